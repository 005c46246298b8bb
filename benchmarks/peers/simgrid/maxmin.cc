// Solves a network with SimGrid's own linear max-min solver (simgrid::kernel::lmm).
//
//   maxmin NET.bin REPEAT USAGE.csv
//
// NET.bin is what `ackclock-bench fluid-net` writes. Prints one line of JSON: CPU time of building the
// system and of System::solve() alone, medians over the repetitions. USAGE.csv gets the load of every
// link, by which the two solutions are compared.
//
// Debian's package exports the solver but not its header, so the few functions that are called are
// declared here. Only pointers cross the border: no layout of SimGrid's classes is assumed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

namespace simgrid::kernel {
namespace resource {
class Resource;
class Action;
} // namespace resource

namespace lmm {
class Variable;

class Constraint {
public:
  double get_usage() const;
};

class System {
public:
  static System* build(std::string_view solver_name, bool selective_update);
  Constraint* constraint_new(resource::Resource* id, double bound);
  Variable* variable_new(resource::Action* id, double penalty, double bound, size_t constraints);
  void expand(Constraint* constraint, Variable* variable, double weight, bool force_creation);
  void variable_free_all();
  void solve();
};
} // namespace lmm
} // namespace simgrid::kernel

using simgrid::kernel::lmm::Constraint;
using simgrid::kernel::lmm::System;

static double cpu_seconds()
{
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

static double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class T> static std::vector<T> numbers(FILE* file, size_t count)
{
  std::vector<T> values(count);
  if (fread(values.data(), sizeof(T), count, file) != count) {
    fprintf(stderr, "the network file is too short\n");
    exit(2);
  }
  return values;
}

int main(int argc, char** argv)
{
  if (argc != 4) {
    fprintf(stderr, "usage: maxmin NET.bin REPEAT USAGE.csv\n");
    return 2;
  }
  FILE* file = fopen(argv[1], "rb");
  if (file == nullptr) {
    perror(argv[1]);
    return 2;
  }
  const auto counts   = numbers<uint32_t>(file, 3);
  const auto capacity = numbers<double>(file, counts[0]);
  const auto offsets  = numbers<uint32_t>(file, counts[1] + 1);
  const auto hops     = numbers<uint32_t>(file, counts[2]);
  fclose(file);

  const int repeat = std::max(1, atoi(argv[2]));
  std::vector<double> building;
  std::vector<double> solving;
  std::vector<Constraint*> links(capacity.size());
  for (int turn = 0; turn < repeat; turn++) {
    double begin   = cpu_seconds();
    System* system = System::build("maxmin", false);
    for (size_t i = 0; i < capacity.size(); i++)
      links[i] = system->constraint_new(nullptr, capacity[i]);
    for (size_t flow = 0; flow + 1 < offsets.size(); flow++) {
      const size_t length = offsets[flow + 1] - offsets[flow];
      auto* variable      = system->variable_new(nullptr, 1.0, -1.0, length);
      for (size_t hop = offsets[flow]; hop < offsets[flow + 1]; hop++)
        system->expand(links[hops[hop]], variable, 1.0, false);
    }
    building.push_back(cpu_seconds() - begin);
    begin = cpu_seconds();
    system->solve();
    solving.push_back(cpu_seconds() - begin);
    if (turn + 1 == repeat) {
      FILE* out = fopen(argv[3], "w");
      if (out == nullptr) {
        perror(argv[3]);
        return 2;
      }
      for (const auto* link : links)
        fprintf(out, "%.12e\n", link->get_usage());
      fclose(out);
    }
    // The system of the turn is left to the end of the process: freeing it is not what is measured.
  }
  printf("{\"build_s\": %.6f, \"solve_s\": %.6f}\n", median(building), median(solving));
  return 0;
}
