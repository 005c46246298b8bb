/* What a turn costs that passes between two processes, without any work: cost_of_guests.py compiles it and reads a line of
 *
 *   turns WAY SIZE THERE BACK TURNS [SPINS]
 *
 * which are microseconds: wall's clock, CPU time here, CPU time of the other. WAY is "sockets" (a pair of Unix sockets with a
 * time limit), "pipes" (two, with a poll before each read here), "bare" (two pipes without) or "memory" (shared memory, where
 * each waits by a futex after SPINS looks). SIZE bytes go there and a tenth of them back. THERE and BACK are the
 * processors, -1 for any. */

#define _GNU_SOURCE
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 16 };

struct shared {
  _Alignas(64) _Atomic unsigned asked;
  _Alignas(64) _Atomic unsigned answered;
  char content[MOST];
};

static const struct timespec slice = {0, 100000000};

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

static double used(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static void stay_on(int processor) {
  if (processor >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
      exit(EXIT_FAILURE);
    }
  }
}

static void set_and_wake(_Atomic unsigned *word, unsigned value) {
  atomic_store(word, value);
  syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void wait_while(_Atomic unsigned *word, unsigned value, long spins) {
  for (long i = 0; i < spins; i++) {
    if (atomic_load(word) != value) {
      return;
    }
    __builtin_ia32_pause();
  }
  while (atomic_load(word) == value) {
    syscall(SYS_futex, word, FUTEX_WAIT, value, &slice, NULL, 0);
  }
}

static void move(bool ok) {
  if (!ok) {
    exit(EXIT_FAILURE);
  }
}

int main(int count, char **words) {
  if (count < 6) {
    return EXIT_FAILURE;
  }
  const char *way = words[1];
  size_t size = (size_t)atol(words[2]), back = size / 10 + 1;
  unsigned turns = (unsigned)atol(words[5]);
  long spins = count > 6 ? atol(words[6]) : 0;
  bool memory = strcmp(way, "memory") == 0, polls = strcmp(way, "pipes") == 0;
  static char content[MOST];
  struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int pair[2], to[2], from[2];
  if (size > MOST || shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(to) || pipe(from)) {
    return EXIT_FAILURE;
  }
  int here[2] = {from[0], to[1]}, there[2] = {to[0], from[1]};
  if (strcmp(way, "sockets") == 0) {
    struct timeval limit = {0, 100000};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    here[0] = here[1] = pair[0];
    there[0] = there[1] = pair[1];
  }
  pid_t child = fork();
  if (child == 0) {
    stay_on(atoi(words[4]));
    for (unsigned i = 0; i < turns; i++) {
      if (memory) {
        wait_while(&shared->asked, i, spins);
        memcpy(content, shared->content, size);
        memcpy(shared->content, content, back);
        set_and_wake(&shared->answered, i + 1);
      } else {
        move(read(there[0], content, MOST) == (ssize_t)size);
        move(write(there[1], content, back) == (ssize_t)back);
      }
    }
    _exit(EXIT_SUCCESS);
  }
  stay_on(atoi(words[3]));
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (unsigned i = 0; i < turns; i++) {
    if (memory) {
      memcpy(shared->content, content, size);
      set_and_wake(&shared->asked, i + 1);
      wait_while(&shared->answered, i, spins);
      memcpy(content, shared->content, back);
    } else {
      move(write(here[1], content, size) == (ssize_t)size);
      struct pollfd ready = {here[0], POLLIN, 0};
      move(!polls || poll(&ready, 1, 100) == 1);
      move(read(here[0], content, MOST) == (ssize_t)back);
    }
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  double wall = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
  int status;
  waitpid(child, &status, 0);
  double scale = 1e6 / turns;
  printf("%.2f %.2f %.2f\n", wall * scale, used(RUSAGE_SELF) * scale, used(RUSAGE_CHILDREN) * scale);
  return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
