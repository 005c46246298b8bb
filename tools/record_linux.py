"""Record the running kernel's TCP over a link in userspace between two network namespaces.

    tools/record_linux.py --cc cubic reno --flows 1 --rate 20 100 --buffer 0.5 1 2 --out FOLDER

Each case is repeated until as many valid recordings are there as `--repeats` says: valid is one in
which the link was not late (`linux_link/record.py` states the limits). The file of a case has the
samples of the first and the numbers of all. Traffic cannot leave the namespaces; nothing outlives
this process.

Exit status: 0 all recorded, 1 some cases without enough valid recordings, 2 the machine refuses.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ackclock.peers.emulate.namespaces import MTU, RefusedError
from linux_link import files
from linux_link.record import Case, describe, prepare, record, summarise

ROOT = Path(__file__).resolve().parent.parent


def cases(arguments: argparse.Namespace) -> list[Case]:
    """List the cases that the arguments state."""
    listed = []
    for cc in arguments.cc:
        for flows in arguments.flows:
            for rate in arguments.rate:
                for buffer in arguments.buffer:
                    bdp = rate * 1e6 * arguments.rtt / 1e3 / 8 / MTU
                    listed.append(
                        Case(
                            cc=cc,
                            flows=flows,
                            rate_bps=round(rate * 1e6),
                            rtt_s=arguments.rtt / 1e3,
                            buffer_packets=max(round(buffer * bdp), 1),
                            seconds=arguments.seconds,
                            stagger_s=arguments.stagger,
                        )
                    )
    return listed


def record_case(case: Case, arguments: argparse.Namespace) -> bool:
    """Record one case and write its file; false if too few recordings were valid."""
    target = arguments.out / f"{case.name}.parquet"
    if target.exists() and not arguments.again:
        return True
    repeats = []
    table = None
    for _ in range(arguments.repeats * 4):
        recording = record(case)
        late = recording.provenance
        word = "valid" if late["valid"] else "too late"
        print(
            f"{case.name}: {word}, p99 {late['lateness_p99_s'] * 1e6:.0f} us, "
            f"most {late['lateness_max_s'] * 1e3:.2f} ms",
            flush=True,
        )
        if not late["valid"]:
            continue
        if table is None:
            table = files.table_of(recording)
        repeats.append({**summarise(recording, arguments.since), "provenance": late})
        if len(repeats) == arguments.repeats:
            break
    if table is None or len(repeats) < arguments.repeats:
        return False
    about = {"case": describe(case), "since_s": arguments.since, "repeats": repeats}
    files.write(target, table, about)
    return True


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cc", nargs="+", default=["reno", "cubic"])
    parser.add_argument("--flows", nargs="+", type=int, default=[1])
    parser.add_argument("--rate", nargs="+", type=float, default=[20.0], help="Mbit/s")
    parser.add_argument("--rtt", type=float, default=40.0, help="ms, without queues")
    parser.add_argument("--buffer", nargs="+", type=float, default=[1.0], help="BDP")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--since", type=float, default=5.0, help="s; numbers count from here")
    parser.add_argument("--stagger", type=float, default=0.1, help="s between starts of flows")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="also where a file exists")
    parser.add_argument("--out", type=Path, default=ROOT / "tests" / "data" / "linux")
    arguments = parser.parse_args()
    try:
        prepare()
        arguments.out.mkdir(parents=True, exist_ok=True)
        missing = [case.name for case in cases(arguments) if not record_case(case, arguments)]
    except RefusedError as error:
        print(f"record_linux: {error}", file=sys.stderr)
        return 2
    if missing:
        print(f"record_linux: not enough valid recordings of {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
