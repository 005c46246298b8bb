"""What shipped stacks do: on six networks, and BBRs in the cases of `ackclock conform bbr`.

``python benchmarks/guests/shipped_stacks.py [STACK ...]`` runs those that are built (``make
guests``), each on each network twice, and BBRs beside ours of their version; it writes
``docs/reference/shipped-stacks.json`` and the tables of ``docs/reference/shipped-stacks.md``.
Stacks that are named are run anew, the others stay as they are; ``--page`` runs none,
``--networks`` and ``--cases`` only these. ``--twice`` writes nothing: each stack is run twice on
two of the networks, and the exit status is 1 if digests differ.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import ackclock
from ackclock.studies.conform import conform

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs/reference/shipped-stacks.json"
PAGE = DATA.with_suffix(".md")
BUILT = "target/guests"
STACKS = {
    "aioquic Reno": f"{BUILT}/venv/bin/python examples/guests/aioquic/guest.py reno",
    "aioquic CUBIC": f"{BUILT}/venv/bin/python examples/guests/aioquic/guest.py cubic",
    "ngtcp2 CUBIC": f"{BUILT}/ngtcp2 cubic",
    "ngtcp2 BBR": f"{BUILT}/ngtcp2 bbr",
    "noq CUBIC": f"{BUILT}/connection-guest noq/cubic",
    "noq BBRv3": f"{BUILT}/connection-guest noq/bbr3",
    "quic-go": f"{BUILT}/quic-go",
    "quiche CUBIC": f"{BUILT}/quiche cubic",
    "quiche BBRv2": f"{BUILT}/quiche bbr2_gcongestion",
    "quinn CUBIC": f"{BUILT}/connection-guest quinn/cubic",
    "quinn BBR": f"{BUILT}/connection-guest quinn/bbr",
    "s2n-quic CUBIC": f"{BUILT}/s2n-quic cubic",
    "s2n-quic BBRv2": f"{BUILT}/s2n-quic bbr",
    "TQUIC CUBIC": f"{BUILT}/tquic cubic",
    "TQUIC BBR": f"{BUILT}/tquic bbr",
    "TQUIC BBRv3": f"{BUILT}/tquic bbr3",
    "TQUIC Copa": f"{BUILT}/tquic copa",
}
OURS = {
    "ours: Reno": "reno",
    "ours: CUBIC": "cubic",
    "ours: BBR": "bbr",
    "ours: BBRv2": "bbr2",
    "ours: BBRv3": "bbr3",
    "ours: Copa": "copa",
}
BESIDE = {
    "ngtcp2 BBR": "bbr3",
    "noq BBRv3": "bbr3",
    "quiche BBRv2": "bbr2",
    "quinn BBR": "bbr",
    "s2n-quic BBRv2": "bbr2",
    "TQUIC BBR": "bbr",
    "TQUIC BBRv3": "bbr3",
}
"""BBRs, and ours of the version that each implements."""

NET = {"kind": "dumbbell", "rate": "10 Mbps", "rtt": "40 ms", "buffer": "1 bdp"}
STEPS = [{"at": "3 s", "rate": "3 Mbps"}, {"at": "6 s", "rate": "10 Mbps"}]
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "wire": ("10 Mbit/s, 40 ms, a buffer of 1 BDP", {}),
    "deep": ("the same with a buffer of 4 BDP", {"net": {"buffer": "4 bdp"}}),
    "loss": (
        "the first, 0.5 % of packets lost at random",
        {"links": [{"link": "r0->r1", "loss": 0.005}]},
    ),
    "CoDel": (
        "the first, CoDel with ECN at the bottleneck, 4 BDP",
        {"net": {"buffer": "4 bdp", "qdisc": {"kind": "codel", "ecn": True}}},
    ),
    "steps": (
        "the first, whose rate is 3 Mbit/s from 3 s to 6 s",
        {"net": {"buffer": "50 pkt", "schedule": {"steps": STEPS}}},
    ),
    "ten": ("the first with ten flows of it", {"net": {"pairs": 10}}),
}
TWICE = ("loss", "CoDel")
"""Networks of ``--twice``: one where random numbers matter, one with marks."""
DURATION_S, WARMUP_S = 9, 1


def write_document(network: str, flow: dict[str, Any]) -> dict[str, Any]:
    """The scenario of a stack on a network."""
    changes = NETWORKS[network][1]
    net = {"pairs": 1, **NET, **changes.get("net", {})}
    flows = [{**flow, "pair": pair} for pair in range(net["pairs"])]
    document = {"net": net, "flows": flows, "seed": 1, **_times()}
    if "links" in changes:
        document["links"] = changes["links"]
    if network == "CoDel":
        for flow_here in flows:
            flow_here["quic"] = {"ecn": True}
    return document


def _times() -> dict[str, str]:
    return {"duration": f"{DURATION_S} s", "warmup": f"{WARMUP_S} s"}


def read(run: ackclock.Run) -> dict[str, Any]:
    """What flows got of a bottleneck, and what it dropped and held."""
    link = next(link for link in run.summary["links"] if link["id"] == "r0->r1")
    return {
        "goodput_mbps": sum(row["goodput_bps"] for row in run.summary["flows"]) / 1e6,
        "drops": link["window_drops"],
        "dropped_percent": 100 * link["window_drops"] / max(link["window_arrived_packets"], 1),
        "queue_ms": 1e3 * link["delay_mean_s"],
    }


def measure(network: str, flow: dict[str, Any]) -> dict[str, Any]:
    """What a stack gets on a network, and whether a second run is the same to the bit."""
    scenario = ackclock.Scenario.from_data(write_document(network, flow))
    run, again = scenario.run(), scenario.run()
    numbers = read(run)
    del numbers["drops"]
    return numbers | {
        "repeats": run.summary["digest"] == again.summary["digest"],
        "digest": run.summary["digest"][:12],
    }


def run_twice(names: list[str]) -> bool:
    """Print the digests of two runs of each stack, and say whether all are equal."""
    words = ("not built", "DIFFERS", "equal")
    results = dict.fromkeys(words, 0)
    for name in names:
        command = STACKS[name]
        if not Path(command.split()[0]).exists():
            print(f"{name:<16}{words[0]}")
            results[words[0]] += 1
            continue
        flow = {"transport": "quic", "cc": f"guest:{command}"}
        cells = [measure(network, flow) for network in TWICE]
        word = words[1 + all(cell["repeats"] for cell in cells)]
        digests = ", ".join(cell["digest"] for cell in cells)
        print(f"{name:<16}{word:<10}{digests}", flush=True)
        results[word] += 1
    print(", ".join(f"{count} {word}" for word, count in results.items() if count))
    return results["DIFFERS"] == 0


def judge(command: str, beside: str) -> dict[str, Any]:
    """What the suite says of a BBR beside ours."""
    found = conform("bbr", f"guest:{command}", beside=beside)
    return {
        "beside": beside,
        "answer": found.answer,
        "cases": found.verdicts(),
        "rows": [row.to_dict() | {"sentence": row.sentence} for row in found.rows],
    }


def write_tables(data: dict[str, Any]) -> dict[str, str]:
    """The tables of the page by their names."""
    head = ["| stack | " + " | ".join(NETWORKS) + " | twice the same |"]
    head += ["| --- |" + " --- |" * (len(NETWORKS) + 1)]
    lines = []
    for name in [*STACKS, *OURS]:
        cells = data["networks"].get(name)
        if cells is None:
            continue  # not built
        shown = [
            f"{c['goodput_mbps']:.2f}; {c['dropped_percent']:.1f} %; {c['queue_ms']:.0f} ms"
            for c in (cells[network] for network in NETWORKS)
        ]
        repeats = "yes" if all(cells[network]["repeats"] for network in NETWORKS) else "NO"
        lines.append(f"| {name} | " + " | ".join(shown) + f" | {repeats} |")
    keys = [f"- {name}: {text}" for name, (text, _) in NETWORKS.items()]
    cases = _list_cases(data["conform"])
    judged = ["| | " + " | ".join(data["conform"]) + " |"]
    judged += ["| --- |" + " --- |" * len(data["conform"])]
    for key, title in cases.items():
        verdicts = [found["cases"].get(key, "") for found in data["conform"].values()]
        judged.append(f"| {key}. {title} | " + " | ".join(verdicts) + " |")
    sentences = []
    for name, found in data["conform"].items():
        sentences += [f"**{name}** beside our `{found['beside']}`. {found['answer']}.", ""]
        for verdict, word in (("fail", ""), ("undecided", "undecided, ours fails too: ")):
            for row in found["rows"]:
                if row["verdict"] == verdict:
                    sentences.append(f"- {word}{_shorten(row)}")
        sentences.append("")
    return {
        "networks": "\n".join([*keys, "", *head, *lines]),
        "cases": "\n".join(judged),
        "sentences": "\n".join(sentences).strip(),
    }


def _list_cases(judged: dict[str, Any]) -> dict[str, str]:
    return {row["case"]: row["title"] for found in judged.values() for row in found["rows"]}


def _shorten(row: dict[str, Any]) -> str:
    """The sentence without the reason of its bound, which is in the suite."""
    return str(row["sentence"]).partition(" Bound: ")[0]


def write_page(data: dict[str, Any]) -> None:
    """Put the tables into the page."""
    fill_page(write_tables(data))


def fill_page(tables: dict[str, str]) -> None:
    """Put tables into the page between the comments of their names."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}{table}\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    """Run what is named or all, and write data and page."""
    options = {word for word in sys.argv[1:] if word.startswith("--")}
    words = [word for word in sys.argv[1:] if word not in options]
    if "--twice" in options:
        sys.exit(not run_twice(words or [*STACKS]))
    data: dict[str, Any] = {"networks": {}, "conform": {}}
    if DATA.exists():
        data = json.loads(DATA.read_text(encoding="utf-8"))
    names = [] if "--page" in options else words or [*STACKS, *OURS]
    for name in names:
        command = STACKS.get(name)
        if command is not None and not Path(command.split()[0]).exists():
            print(f"{name}: {command.split()[0]} is not built")
            continue
        cc = OURS[name] if command is None else f"guest:{command}"
        flow = {"transport": "quic", "cc": cc}
        if "--cases" not in options:
            data["networks"][name] = {network: measure(network, flow) for network in NETWORKS}
        if command is not None and name in BESIDE and "--networks" not in options:
            data["conform"][name] = judge(command, BESIDE[name])
        print(f"{name}: done", flush=True)
        for part, order in (("networks", [*STACKS, *OURS]), ("conform", BESIDE)):
            data[part] = {key: data[part][key] for key in order if key in data[part]}
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    write_page(data)


if __name__ == "__main__":
    main()
