"""The Python side of a check grows linearly with its input: calls are counted, not seconds."""

import sys

import pytest

import ackclock as ac


def dumbbell(folder, pairs=1, **more):
    net = {"kind": "dumbbell", "pairs": pairs, "rate": "1 Gbps", "rtt": "10 ms", "buffer": "20 pkt"}
    return {"net": {**net, **more}, "flows": [{"pair": 0}], "duration": 1}


def steps(folder, count):
    listed = [{"at": i * 1e-5, "rate": 1e6} for i in range(count)]
    return dumbbell(folder, schedule={"steps": listed})


def trace(folder, count):
    (folder / "trace").write_text("\n".join(map(str, range(count))))
    return dumbbell(folder, schedule={"mahimahi_file": str(folder / "trace")})


def calls_of_check(data):
    """Count calls of Python functions and of those in C."""
    count = 0

    def note(_, event, __):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        ac.Scenario.from_data(data).check()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("make", [steps, trace, dumbbell])
def test_twice_the_input_takes_at_most_twice_the_calls(tmp_path, make):
    calls_of_check(make(tmp_path, 10))  # imports and caches
    one, two = (calls_of_check(make(tmp_path, count)) for count in (2000, 4000))
    assert two <= 2.05 * one
