"""Run one peer simulator once on a scenario of the speed benchmark.

    python run.py --which ns2 --scenario dumbbell --n 50 --seconds 100 --json

Prints what the simulator says of itself, next to the CPU time and the memory that the kernel
charged to it. Exit codes: 0 done, 1 the simulator failed, 2 wrong arguments, 3 not installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from make_hierarchy import FLOWS, SEED, write_hierarchy

HERE = Path(__file__).resolve().parent

NS3_MODULES = ("core", "network", "internet", "point-to-point", "applications")

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NOT_INSTALLED = 3


class PeerError(Exception):
    """A reason to stop, with the exit code that goes with it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Child:
    """What a finished child process printed and used."""

    stdout: str
    user_cpu_s: float
    max_rss_mb: float


@dataclass(frozen=True)
class Result:
    """One run of one simulator; the JSON object."""

    simulator: str
    version: str
    scenario: str
    n: int
    seconds: float
    setup_cpu_s: float
    run_cpu_s: float
    user_cpu_s: float
    max_rss_mb: float
    packet_hops: int
    flows_csv: str


def run_child(command: list[str], environment: dict[str, str] | None = None) -> Child:
    """Run a command to its end and take its own resource usage from ``wait4``.

    Raises
    ------
    PeerError
        If it exits with anything but 0.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **(environment or {})},
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        stdout, stderr = out.read(), err.read()
    if child.returncode != 0:
        said = (stderr or stdout).strip()[-2000:]
        message = f"{shlex.join(command)} ended with {child.returncode}: {said}"
        raise PeerError(message, EXIT_FAILED)
    return Child(stdout, usage.ru_utime, usage.ru_maxrss / 1024)


def require_program(program: str, needed_for: str, package: str) -> str:
    """Full path of a program, or a `PeerError` that names the package to install."""
    path = shutil.which(program)
    if path is None:
        message = f"{needed_for} needs the program `{program}`: apt-get install {package}"
        raise PeerError(message, EXIT_NOT_INSTALLED)
    return path


def ns2_command(scenario: str, n: int, seconds: float, csv: Path, cache: Path) -> list[str]:
    """Command that runs ns-2; writes the hierarchy's files first."""
    ns = require_program("ns", "ns-2", "ns2")
    if scenario == "dumbbell":
        first_argument = str(n)
    else:
        folder = cache / f"hierarchy-{n}-seed{SEED}"
        write_hierarchy(folder, flow_count=n)
        first_argument = str(folder)
    return [ns, str(HERE / "ns2" / f"{scenario}.tcl"), first_argument, f"{seconds:g}", str(csv)]


def pkg_config(*arguments: str) -> str | None:
    """Output of pkg-config, or None if it does not know a module."""
    program = require_program("pkg-config", "ns-3", "pkg-config")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def ns3_flags() -> list[str]:
    """Compiler and linker flags for ns-3.

    Of what pkg-config says only the folders and ns-3's own libraries are kept: Debian's files also
    name libraries that its packages do not install, and a folder with a stray semicolon.
    """
    flags = pkg_config("--cflags", "--libs", *(f"ns3-{module}" for module in NS3_MODULES))
    if flags is None:
        message = "ns-3 is not installed (pkg-config finds no ns3-core): apt-get install libns3-dev"
        raise PeerError(message, EXIT_NOT_INSTALLED)
    kept: list[str] = []
    for flag in shlex.split(flags):
        own_library = flag.startswith("-l") and "ns3" in flag
        folder = flag.startswith(("-I", "-L")) and not flag.endswith(";")
        if own_library or folder or flag.startswith("-D"):
            kept.append(flag)
        if flag.startswith("-L"):
            # Old tags, so that ns-3's libraries find each other there as well.
            kept += ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{flag[2:]}"]
    # Each once, in the order of their first mention.
    return list(dict.fromkeys(kept))


def build_ns3(cache: Path) -> tuple[Path, str]:
    """Path of the compiled ns3/dumbbell.cc, from the cache if it is there, and ns-3's version."""
    flags = ns3_flags()
    version = pkg_config("--modversion", "ns3-core") or "unknown"
    compiler = require_program("g++", "ns-3", "g++")
    source = HERE / "ns3" / "dumbbell.cc"
    options = ["-std=c++17", "-O3", "-DNDEBUG"]
    recipe = hashlib.sha256(source.read_bytes())
    recipe.update(shlex.join([compiler, version, *options, *flags]).encode())
    binary = cache / f"ns3-dumbbell-{recipe.hexdigest()[:16]}"
    if not binary.exists():
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = binary.with_suffix(f".{os.getpid()}")
        run_child([compiler, *options, str(source), "-o", str(unfinished), *flags])
        unfinished.replace(binary)
    return binary, version


def read_line(stdout: str) -> dict[str, str]:
    """The simulator's line of key=value.

    Raises
    ------
    PeerError
        If there is none.
    """
    for line in stdout.splitlines():
        if line.startswith("simulator="):
            return dict(pair.split("=", 1) for pair in line.split())
    message = f"the simulator printed no result line: {stdout.strip()[-2000:]}"
    raise PeerError(message, EXIT_FAILED)


def run_peer(
    which: str,
    scenario: str,
    *,
    n: int,
    seconds: float,
    csv: Path,
    cache: Path,
    exact_hops: bool,
) -> Result:
    """Build what is needed and run it once (twice for ``exact_hops`` with ns-2)."""
    if which == "ns2":
        command = ns2_command(scenario, n, seconds, csv, cache)
        version = None
    elif scenario == "dumbbell":
        binary, version = build_ns3(cache)
        command = [str(binary), str(n), f"{seconds:g}", str(csv)]
    else:
        message = f"the scenario {scenario} is written for ns2 only"
        raise PeerError(message, EXIT_USAGE)

    csv.parent.mkdir(parents=True, exist_ok=True)
    child = run_child(command)
    line = read_line(child.stdout)
    hops = line["packet_hops"]
    if exact_hops and line["hops_from"] == "acks":
        # The same run, slower, with a monitor at every link; its CPU time is not used.
        hops = read_line(run_child(command, {"PEERS_COUNT": "1"}).stdout)["packet_hops"]
    return Result(
        simulator=line["simulator"],
        version=version or line["version"],
        scenario=scenario,
        n=n,
        seconds=seconds,
        setup_cpu_s=float(line["setup_cpu_s"]),
        run_cpu_s=float(line["run_cpu_s"]),
        user_cpu_s=round(child.user_cpu_s, 3),
        max_rss_mb=round(child.max_rss_mb, 1),
        packet_hops=int(hops),
        flows_csv=str(csv),
    )


def default_cache() -> Path:
    """Folder for builds and results, outside the source tree."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "ackclock-peers"


def positive_int(text: str) -> int:
    """Argument type: an integer above 0."""
    value = int(text)
    if value <= 0:
        raise ValueError
    return value


def positive_float(text: str) -> float:
    """Argument type: a finite number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError
    return value


def parse_arguments() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description="Run one peer simulator once.")
    parser.add_argument("--which", choices=("ns2", "ns3"), required=True)
    parser.add_argument("--scenario", choices=("dumbbell", "hierarchy"), default="dumbbell")
    parser.add_argument("--n", type=positive_int, help=f"flows (dumbbell: 50, hierarchy: {FLOWS})")
    parser.add_argument(
        "--seconds", type=positive_float, help="simulated time (dumbbell: 100, hierarchy: 50)"
    )
    parser.add_argument("--out", type=Path, help="per-flow results (default: in the cache)")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="folder for builds")
    parser.add_argument(
        "--exact-hops",
        action="store_true",
        help="count ns-2's packet-hops in a second, untimed run instead of from ACKs",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def main() -> int:
    """Command line entry."""
    arguments = parse_arguments()
    dumbbell = arguments.scenario == "dumbbell"
    n: int = arguments.n or (50 if dumbbell else FLOWS)
    seconds: float = arguments.seconds or (100.0 if dumbbell else 50.0)
    cache: Path = arguments.cache.resolve()
    name = f"{arguments.which}-{arguments.scenario}-{n}-{seconds:g}s.csv"
    csv: Path = arguments.out.resolve() if arguments.out else cache / "results" / name
    try:
        result = run_peer(
            arguments.which,
            arguments.scenario,
            n=n,
            seconds=seconds,
            csv=csv,
            cache=cache,
            exact_hops=arguments.exact_hops,
        )
    except PeerError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return error.exit_code
    if arguments.json:
        print(json.dumps(asdict(result)))
    else:
        for key, value in asdict(result).items():
            print(f"{key:12} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
