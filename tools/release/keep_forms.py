"""Keeps the files of this version for later ones to open: ``tests/migration/VERSION``.

Run once for each release that changes the form of a file. Copies the examples and lessons, runs a
small sweep into a store and a scenario into a bundle, and writes into ``expected.json`` what is in
them. ``tests/migration/test_forms.py`` opens all of it ever after.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from release.metadata import ROOT, read_project

__all__ = ["main", "read_bundle", "read_store"]

SWEEP = """\
name = "Kept"
reps = 2
metrics = ["flows[f0].goodput_bps", "links[r0->r1].delay_mean_s"]

[scenario]
duration = "2 s"
net = { kind = "dumbbell", pairs = 2, rate = "4 Mbps", rtt = "30 ms", buffer = "20 pkt" }
flows = [{ pair = 0, cc = "cubic" }, { pair = 1, cc = "vegas", start = "0.2 s" }]

[over]
"net.qdisc" = ["fifo", "codel"]
"""

SETTINGS = ["duration=2 s", "warmup=0.5 s"]


def read_store(folder: Path) -> list[dict[str, Any]]:
    """Read what must still be in a store: seed, labels, digest and goodputs of each run.

    Parameters
    ----------
    folder
        The store.
    """
    from ackclock.experiments.store import query
    from ackclock.experiments.store.store import Store

    with Store(folder) as store:
        rows = query.find(store, ())
        keys = {row["key"] for row in rows}
        digests = {key: summary["digest"] for key, summary in store.summaries(keys).items()}
        flows = store.table("flows", keys)
    assert flows is not None
    goodputs: dict[str, list[float]] = {key: [] for key in keys}
    for key, goodput in zip(
        *(flows[name].to_pylist() for name in ("key", "goodput_bps")), strict=True
    ):
        goodputs[key].append(goodput)
    read = [
        {
            "key": row["key"],
            "seed": row["seed"],
            "labels": json.loads(row["labels"]),
            "digest": digests[row["key"]],
            "goodput_bps": goodputs[row["key"]],
        }
        for row in rows
    ]
    return sorted(read, key=lambda row: str(row["key"]))


def read_bundle(folder: Path) -> dict[str, Any]:
    """Read what must still be in a bundle: the digest, and rows and columns of each table.

    Parameters
    ----------
    folder
        The bundle.
    """
    from ackclock.scenario.load import load_run

    run = load_run(folder)
    tables = {
        name: [run.tables[name].num_rows, run.tables[name].column_names] for name in run.tables
    }
    return {"digest": run.summary["digest"], "tables": tables}


def main() -> int:
    """Write the folder."""
    from ackclock.cli.main import main as cli

    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    out = ROOT / "tests/migration" / read_project((ROOT / "Cargo.toml").read_text("utf-8")).version
    if out.exists():
        sys.exit(f"{out.relative_to(ROOT)} is kept already")
    documents = out / "documents"
    for source, folder in (
        (ROOT / "examples", documents),
        (ROOT / "web/lessons", documents / "lessons"),
    ):
        for file in source.rglob("*"):
            if file.suffix in (".toml", ".py") and file.name != "lessons.toml":
                (folder / file.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, folder / file.relative_to(source))
    (documents / "sweep.toml").write_text(SWEEP, "utf-8")
    os.chdir(out)
    changes = [f"--set={setting}" for setting in SETTINGS]
    # The store names the machine that ran.
    with mock.patch("platform.node", return_value="host"):
        for command in (
            ["sweep", "documents/sweep.toml", "--store", "store"],
            ["run", "documents/parking-lot.toml", *changes, "--out", "run"],
        ):
            if code := cli(command):
                return code
    expected = {"store": read_store(out / "store"), "run": read_bundle(out / "run")}
    (out / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", "utf-8")
    for lock in Path("store").glob("*.lock"):
        lock.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
