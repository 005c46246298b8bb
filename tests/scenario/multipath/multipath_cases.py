"""Networks of the literature on multipath congestion control, and their fixed points.

``python multipath_cases.py`` in this folder prints the numbers of docs/howto/multipath.md.
"""

import numpy as np
from scipy.optimize import brentq

import ackclock as ac

FAST = {"rate": "1 Gbps", "delay": "1 us", "buffer": "10000 pkt"}
RED = {"kind": "red", "min_th": 50, "max_th": 400, "max_p": 0.02}
"""Of a queue that drops at random: fixed points assume that paths are seen by their loss ratios."""
SHARE = 1460 / 1500


def route(*nodes):
    """A path there and back."""
    return {"route": list(nodes), "ack_route": list(reversed(nodes))}


def over_lossy_paths(cc, losses, delays=("49 ms", "49 ms"), *, seed=1, single=None):
    """One connection over two links that lose at random and never queue.

    `single`: a TCP over one of them.
    """
    links = []
    for i, (loss, delay) in enumerate(zip(losses, delays, strict=True)):
        links += [{"a": "a", "b": f"r{i}", **FAST}]
        links += [{"a": f"r{i}", "b": "z", **FAST, "delay": delay, "loss": loss}]
    ways = [route("a", f"r{i}", "z") for i in range(2)]
    flow = {"src": "a", "dst": "z", "cc": cc}
    flow |= {"multipath": {"paths": ways}} if single is None else ways[single]
    return ac.Scenario.from_data({
        "net": {"kind": "graph", "links": links}, "flows": [flow], "seed": seed,
        "tcp": {"delayed_ack": 1}, "duration": "200 s", "warmup": "20 s",
    })  # fmt: skip


def scenario_a(cc, *, n1=10, n2=10, mbps=5.0, seed=1):
    """Khalili et al., scenario A: users with two access points get all from one server; one of the
    access points serves users of TCP too."""
    links = [
        {"a": "server", "b": "net", "rate": f"{n1 * mbps} Mbps", "delay": "20 ms",
         "buffer": "800 pkt", "qdisc": RED},
        {"a": "net", "b": "own", **FAST},
        {"a": "own", "b": "user", **FAST, "delay": "20 ms"},
        {"a": "net", "b": "shared", **FAST},
        {"a": "other", "b": "shared", **FAST, "delay": "20 ms"},
        {"a": "shared", "b": "user", "rate": f"{n2 * mbps} Mbps", "delay": "20 ms",
         "buffer": "800 pkt", "qdisc": RED},
    ]  # fmt: skip
    ways = [route("server", "net", ap, "user") for ap in ("own", "shared")]
    flows = [
        {"id": "m", "src": "server", "dst": "user", "count": n1, "cc": cc,
         "start_jitter": "2 s", "multipath": {"paths": ways}},
        {"id": "t", "src": "other", "dst": "user", "count": n2, "cc": "aimd",
         "start_jitter": "2 s"},
    ]  # fmt: skip
    return _scenario(links, flows, seed)


def scenario_c(cc, *, ratio=1.0, n1=10, n2=10, mbps=5.0, seed=1):
    """Khalili et al., scenario C: users with a separate access point, of `ratio` times the
    capacity a user, beside one that users of TCP have."""
    links = [
        {"a": "s", "b": "own", **FAST},
        {"a": "own", "b": "z", "rate": f"{n1 * mbps * ratio} Mbps", "delay": "40 ms",
         "buffer": "800 pkt", "qdisc": RED},
        {"a": "s", "b": "shared", **FAST},
        {"a": "shared", "b": "z", "rate": f"{n2 * mbps} Mbps", "delay": "40 ms",
         "buffer": "800 pkt", "qdisc": RED},
    ]  # fmt: skip
    ways = [route("s", ap, "z") for ap in ("own", "shared")]
    flows = [
        {"id": "m", "src": "s", "dst": "z", "count": n1, "cc": cc, "start_jitter": "2 s",
         "multipath": {"paths": ways}},
        {"id": "t", "src": "shared", "dst": "z", "count": n2, "cc": "aimd", "start_jitter": "2 s"},
    ]  # fmt: skip
    return _scenario(links, flows, seed)


def _scenario(links, flows, seed):
    return ac.Scenario.from_data({
        "net": {"kind": "graph", "links": links}, "flows": flows, "seed": seed,
        "tcp": {"delayed_ack": 1}, "duration": "120 s", "warmup": "30 s",
    })  # fmt: skip


def shares(run, n1, n2, own, shared):
    """Mean rates of users of several paths and of one, in the given capacities a user [bit/s]."""
    rows = run.flows.to_pylist()
    several = sum(row["goodput_bps"] for row in rows if row["connection"])
    single = sum(row["goodput_bps"] for row in rows if not row["connection"])
    return several / n1 / (own * SHARE), single / n2 / (shared * SHARE)


def fixed_point_a(n1, n2):
    """What users of TCP get in scenario A with LIA and equal capacities.

    It is the root of z + z^2 / (1 + 2 z^2) n1 / n2 = 1, where z^2 is the loss ratio of the server's
    link by that of the shared access point.
    """
    return brentq(lambda z: z + z**2 / (1 + 2 * z**2) * n1 / n2 - 1, 1e-9, 2)


def fixed_point_c(ratio):
    """What users of LIA and of TCP get in scenario C with as many of both.

    The first access point loses less. With s = p1 / p2: the windows of LIA are as 1 / p, so that
    x2 = s x1 and x1 = ratio; their sum is that of a TCP on the better path, y / sqrt(s);
    x2 + y = 1.
    """
    s = brentq(lambda s: s * ratio + ratio * (1 + s) * s**0.5 - 1, 1e-9, 1)
    return 1 + s, ratio * (1 + s) * s**0.5


def interval(values):
    """Mean and half of its 95 % interval (Student's t)."""
    from scipy.stats import t

    array = np.array(values)
    return array.mean(), t.ppf(0.975, len(array) - 1) * array.std(ddof=1) / len(array) ** 0.5


def main():
    """Print what the page says of published numbers."""
    seeds, controls = (1, 2, 3), ("lia", "balia", "olia")
    cases = [
        ("A", fixed_point_a(10, 10), scenario_a, {"n1": 10}),
        ("A, thirty", fixed_point_a(30, 10), scenario_a, {"n1": 30}),
        ("C", fixed_point_c(1.0), scenario_c, {"ratio": 1.0}),
        ("C, twice", fixed_point_c(2.0), scenario_c, {"ratio": 2.0}),
    ]
    for name, expected, case, sizes in cases:
        n1, own = sizes.get("n1", 10), sizes.get("ratio", 1.0)
        for cc in controls:
            runs = [case(cc, **sizes, seed=seed).run() for seed in seeds]
            both = [shares(run, n1, 10, 5e6 * own, 5e6) for run in runs]
            print(name, "closed form", expected, cc, np.mean(both, axis=0).round(3))
    for losses, delays in (((0.004, 0.01), ("49 ms", "49 ms")), ((0.04, 0.01), ("5 ms", "50 ms"))):
        for cc, single in (("aimd", 0), ("aimd", 1), *((cc, None) for cc in ("aimd", *controls))):
            made = [over_lossy_paths(cc, losses, delays, seed=s, single=single) for s in seeds]
            tables = [case.run().flows.to_pylist() for case in made]
            rates = np.mean([[r["goodput_bps"] / 11_680 for r in rows] for rows in tables], axis=0)
            print(losses, cc, "" if single is None else f"path {single}", rates.round(1))


if __name__ == "__main__":
    main()
