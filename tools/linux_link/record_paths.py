"""Record the kernel's TCP over paths of each kind with `ackclock emulate`, for era `linux`.

    PYTHONPATH=tools python -m linux_link.record_paths open|held [--cc reno] [--flows 1 2]

A case takes its length in real time for each seed. An emulation whose packets were late is invalid
and repeated; a case without a valid run of each seed is left out and named. A file has the nine
quantities of each run and, of one or two flows, the windows of the first.

Exit status: 0 all recorded, 1 some cases could not be, 2 the machine refuses.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pyarrow as pa

import ackclock as ac
from linux_link import files, paths

ROOT = Path(__file__).resolve().parent.parent.parent
ATTEMPTS = 6
#: Windows are in the file up to so many flows.
MOST_TRACED = 2


def table_of(windows: pa.Table) -> pa.Table:
    """Make the small table of windows: time, flow, cwnd and ssthresh, packets acknowledged."""
    ssthresh = windows["ssthresh_segments"].to_numpy().clip(max=65535)
    return pa.table(
        {
            "t_s": windows["time_s"].cast(pa.float32()),
            "flow": windows["flow"].cast("string"),
            "cwnd": pa.array(windows["cwnd_segments"].to_numpy().astype("uint16")),
            "ssthresh": pa.array(ssthresh.astype("uint16")),
            "acked": windows["acked"],
        }
    )


def record(cell: paths.Cell, folder: Path) -> bool:
    """Record a case and write its file; false if a seed had no valid run."""
    repeats, table = [], None
    for seed in paths.SETTINGS[cell.setting].seeds:
        scenario = ac.Scenario.from_data({**paths.document(cell), "seed": seed})
        for _ in range(ATTEMPTS):
            run = ac.emulate(scenario)
            late = run.summary["emulation"]["lateness"]
            word = "valid" if run.is_valid else "late"
            times = f"p99 {late['p99_s'] * 1e6:.0f} us, most {late['max_s'] * 1e3:.2f} ms"
            print(f"{cell.name}, seed {seed}: {word}, {times}", flush=True)
            if run.is_valid:
                break
        else:
            return False
        repeats.append(
            {
                "seed": seed,
                "quantities": paths.quantities(run),
                "kernel": run.summary["emulation"]["kernel"],
                "lateness_p99_s": late["p99_s"],
                "lateness_max_s": late["max_s"],
            }
        )
        if table is None:
            table = table_of(run.tables["windows"])
    assert table is not None
    if cell.flows > MOST_TRACED:
        table = table.slice(0, 0)
    about = {"case": paths.document(cell), "repeats": repeats}
    files.write(folder / f"{cell.name}.parquet", table, about)
    return True


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("setting", choices=sorted(paths.SETTINGS))
    controls = [*paths.CONTROLS]
    parser.add_argument("--cc", nargs="+", choices=controls, default=controls)
    parser.add_argument("--flows", nargs="+", type=int, default=[*paths.FLOWS])
    parser.add_argument("--path", nargs="+", choices=paths.PATHS, default=[*paths.PATHS])
    parser.add_argument("--again", action="store_true", help="also where a file exists")
    parser.add_argument("--out", type=Path, default=ROOT / "tests" / "data" / "linux")
    arguments = parser.parse_args()
    folder = arguments.out / arguments.setting
    folder.mkdir(parents=True, exist_ok=True)
    missing = []
    for cell in paths.cells(arguments.setting):
        if cell.cc not in arguments.cc or cell.flows not in arguments.flows:
            continue
        if cell.path not in arguments.path:
            continue
        if (folder / f"{cell.name}.parquet").exists() and not arguments.again:
            continue
        try:
            if not record(cell, folder):
                missing.append(cell.name)
        except ac.UnsupportedError as error:
            print(f"record_paths: {error}", file=sys.stderr)
            return 2
    if missing:
        print(f"record_paths: no valid recording of {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
