"""A script of a stranger: its own control, a sweep at the top level, no ``__main__`` guard."""

import subprocess
import sys

import pytest

import ackclock as ac

CONTROL = """
import ackclock as ac

print("begun")

@ac.control
class Steady:
    gain: float = 1.0

    def on_ack(self, window, ack):
        window.cwnd += self.gain * ack.acked / window.cwnd

    def on_congestion(self, window, event):
        window.cwnd = event.in_use / 2
"""
CASE = """
case = ac.Scenario(
    net=ac.topology.Dumbbell(pairs=2, rate="5 Mbps", rtt="40 ms", buffer="20 pkt"),
    flows=[ac.Flow(pair=0, cc=Steady(gain=0.5)), ac.Flow(pair=1, cc=ac.cc.Aimd())],
    duration="4 s",
)
"""
SWEEP = """
result = ac.sweep(case, {"net.buffer": ["5 pkt", "20 pkt"]}, reps=2).run(
    workers=2, store=False, progress=False
)
print(len(result.slots), result.slots[0].seed)
"""


def script(folder, *parts):
    file = folder / "mine.py"
    file.write_text("".join(parts))
    return subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, cwd=folder, check=False
    )


def test_a_sweep_at_the_top_level_of_a_script_runs_once_without_a_guard(tmp_path):
    done = script(tmp_path, CONTROL, CASE, SWEEP)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == "begun\n4 1\n"


def test_it_gives_what_the_same_script_with_a_guard_gives(tmp_path):
    summary = "print([f['goodput_bps'] for s in result.summaries.values() for f in s['flows']])\n"
    bare = script(tmp_path, CONTROL, CASE, SWEEP, summary)
    guarded = [line for part in (CASE, SWEEP, summary) for line in part.splitlines()]
    text = "\n    ".join(["if __name__ == '__main__':", *guarded])
    assert script(tmp_path, CONTROL, text).stdout == bare.stdout
    assert bare.stdout.count("\n") == 3


@pytest.mark.parametrize("run", ["case.run()", "ac.replicate(case, reps=2)"])
def test_a_bundle_of_a_script_is_read_without_running_it(tmp_path, run):
    saves = 'made = case.run()\nmade.save("bundle")\nprint(made.summary["digest"])\n'
    done = script(tmp_path, CONTROL, CASE, f"{run}\n", saves)
    assert done.returncode == 0, done.stderr
    again = ac.load_run(tmp_path / "bundle").scenario.run()
    assert again.summary["digest"] == done.stdout.split()[-1]


def test_a_class_that_comes_after_a_run_is_missed_with_the_reason(tmp_path):
    late = CONTROL.replace("Steady", "Late").replace("import ackclock as ac", "")
    uses = "ac.sweep(case.replace(**{'flows[0].cc': Late()})).run(store=False, progress=False)\n"
    file = tmp_path / "mine.py"
    file.write_text("".join([CONTROL, CASE, "case.run()\n", late, uses]))
    line = file.read_text().splitlines().index("case.run()") + 1
    scenario = tmp_path / "case.toml"
    scenario.write_text(
        'duration = "4 s"\nnet = { kind = "dumbbell", pairs = 1, rate = "5 Mbps", rtt = "40 ms" }\n'
        'flows = [{ pair = 0, cc = "mine.py:Late" }]\n'
    )
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(scenario).check()
    assert f'no decorated class "Late"; it was read up to line {line}, which starts a run' in str(
        caught.value
    )
