"""Controls and AQMs written by users: equality with the registry, failures, cadence, files."""

import json
import subprocess
import sys
import traceback
from itertools import pairwise
from pathlib import Path

import pytest

import ackclock as ac
from ackclock.cli.main import main
from ackclock.experiments.replication import replicate

HERE = Path(__file__).parent
SAMPLES = HERE / "usercode_samples.py"
EXAMPLE = HERE.parents[1] / "examples" / "my_control.toml"


def sample(name, **parameters):
    return {"kind": "python", "class": f"{SAMPLES}:{name}", **parameters}


def scenario(cc="aimd", qdisc="fifo", duration="10 s", count=2, **more):
    net = ac.topology.Dumbbell(
        pairs=count, rate="5 Mbps", rtt="40 ms", buffer="20 pkt", qdisc=qdisc
    )
    flows = [ac.Flow(pair=i, cc=cc, start=0.1 * i) for i in range(count)]
    return ac.Scenario(net, flows, duration, seed=3, **more)


# -- what it does -------------------------------------------------------------------------------


@pytest.mark.parametrize("tcp", [{}, {"ecn": True}, {"delayed_ack": 1}], ids=str)
@pytest.mark.parametrize("recovery", ["sack", "newreno"])
def test_aimd_in_python_is_the_registrys_aimd_packet_for_packet(tcp, recovery):
    def run(cc):
        net = ac.topology.Dumbbell(
            pairs=2, rate="5 Mbps", rtt="40 ms", buffer="20 pkt",
            qdisc={"kind": "red", "ecn": True},
        )  # fmt: skip
        flows = [ac.Flow(pair=i, cc=cc, recovery=recovery, start=0.1 * i) for i in range(2)]
        return ac.Scenario(net, flows, "20 s", seed=3, tcp=ac.TcpOptions(**tcp)).run()

    mine, theirs = run(sample("Aimd")), run(ac.cc.Aimd(count="acks"))
    assert mine.summary["digest"] == theirs.summary["digest"]
    assert sum(flow["retransmits"] + flow["ecn_reductions"] for flow in mine.summary["flows"]) > 10


def test_an_instance_in_a_flow_equals_the_class_in_a_file():
    def run(cc):
        return scenario(cc).run().summary["digest"]

    @ac.control
    class Gentle:
        cut: float = 0.5

        def on_ack(self, window, ack):
            window.cwnd += ack.acked / window.cwnd

        def on_congestion(self, window, event):
            window.cwnd = self.cut * event.in_use

    assert run(Gentle) == run(Gentle()) == run(Gentle(cut=0.5))
    assert run(Gentle(0.8)) != run(Gentle)


def test_classes_of_one_source_stay_apart():
    def make(cut):
        @ac.control
        class Same:
            def on_ack(self, window, ack):
                window.cwnd += ack.acked / window.cwnd

            def on_congestion(self, window, event):
                window.cwnd = cut * event.in_use

        return Same

    def run(first, second):
        one = scenario()
        return one.replace(**{"flows[0].cc": first, "flows[1].cc": second}).run().summary["digest"]

    low, high = make(0.3), make(0.9)
    assert len({run(low, high), run(high, low), run(low, low), run(high, high)}) == 4


def test_a_timeout_takes_the_window_to_one_segment_and_a_method_of_ones_own_replaces_that():
    @ac.control
    class Plain:
        def on_ack(self, window, ack):
            pass

        def on_congestion(self, window, event):
            window.cwnd = event.in_use / 2

    @ac.control
    class Stubborn(Plain):
        def on_timeout(self, window, event):
            window.cwnd, window.ssthresh = 5.0, 7.0

    def after_timeout(cc):
        # The link swallows everything for a while: the first window times out.
        net = ac.topology.Dumbbell(
            pairs=1, rate="5 Mbps", rtt="40 ms", buffer="20 pkt", drop=list(range(3, 15))
        )
        run = ac.Scenario(
            net, [ac.Flow(pair=0, cc=cc)], "3 s", record=["windows"], tcp={"initial_window": 10}
        ).run()
        assert run.summary["flows"][0]["timeouts"] >= 1
        rows = run.windows.to_pylist()
        return {(row["cwnd_segments"], row["ssthresh_segments"]) for row in rows}

    assert any(cwnd == 1.0 for cwnd, _ in after_timeout(Plain))
    stubborn = after_timeout(Stubborn)
    assert (5.0, 7.0) in stubborn
    assert not any(cwnd == 1.0 for cwnd, _ in stubborn)


def test_a_control_with_on_lost_gets_each_loss_and_decides_in_recovery():
    lost, acked = [], []

    @ac.control(slow_start=False)
    class Watching:
        def on_ack(self, window, ack):
            acked.append(ack.now_s)

        def on_congestion(self, window, event):
            window.cwnd = event.in_use / 2

        def on_lost(self, window, fact):
            lost.append((fact.seq, fact.now_s, fact.sent_s, fact.lost_since))

    net = ac.topology.Dumbbell(
        pairs=1, rate="5 Mbps", rtt="40 ms", buffer="100 pkt", drop=[6, 8, 40]
    )
    flows = [ac.Flow(pair=0, cc=Watching)]
    run = ac.Scenario(net, flows, "2 s", record=["windows"], tcp={"initial_window": 10}).run()
    assert run.summary["flows"][0]["lost_data_packets"] == 3
    assert [seq for seq, *_ in lost] == sorted(seq for seq, *_ in lost)
    assert len(lost) == 3
    assert lost[0][3] == 1
    assert all(now > sent + 0.04 for _, now, sent, _ in lost)
    # Acknowledgements between the first loss and its repair, a round trip later, are not left out.
    assert sum(lost[0][1] < now < lost[0][1] + 0.04 for now in acked) >= 2


def counting(cadence):
    calls = []

    @ac.control(cadence=cadence, slow_start=False)
    class Counting:
        def on_ack(self, window, ack):
            calls.append((ack.now_s, ack.acked, ack.acks, ack.round, ack.rtt_s, ack.rtt_low_s))
            window.cwnd = 8.0

        def on_congestion(self, window, event):
            raise AssertionError("nothing is lost here")

    net = ac.topology.Dumbbell(pairs=1, rate="10 Mbps", rtt="50 ms", buffer="100 pkt")
    run = ac.Scenario(
        net, [ac.Flow(pair=0, cc=Counting)], "10 s", tcp={"delayed_ack": 1, "initial_window": 8}
    ).run()
    return calls, run.summary["flows"][0]


def test_cadence_ack_calls_for_every_acknowledgement():
    calls, flow = counting("ack")
    assert len(calls) == pytest.approx(flow["delivered_packets"], abs=8)
    assert all(acks == 1 and low == rtt for _, _, acks, _, rtt, low in calls)


def test_calls_of_python_are_predicted_each_with_what_it_takes():
    flows = scenario(ac.cc.Aimd(count="acks")).run().summary["flows"]
    delivered = sum(flow["delivered_packets"] for flow in flows)

    def predict_calls(mine, shipped):
        return (scenario(*mine).cost().cpu_s - scenario(*shipped).cost().cpu_s) / 1.3e-6

    # An ACK for two packets. The queue is at both ends of the link, and ACKs pass it too.
    control = predict_calls([sample("Aimd")], [ac.cc.Aimd(count="acks")])
    assert control == pytest.approx(delivered / 2, rel=0.1)
    queue = predict_calls(["aimd", sample("DropTail")], ["aimd", "red"])
    assert queue == pytest.approx(1.5 * delivered, rel=0.1)


def test_cadence_round_calls_once_per_round_trip_and_adds_up():
    calls, flow = counting("round")
    rtt = flow["srtt_mean_s"]
    assert len(calls) == pytest.approx(10 / rtt, rel=0.03)
    rounds = [round_ for _, _, _, round_, _, _ in calls]
    assert rounds == sorted(set(rounds))
    assert all(acked == 8 for _, acked, *_ in calls[1:])
    assert all(low <= mean for *_, mean, low in calls)


def test_cadence_of_an_interval_calls_by_the_clock():
    calls, flow = counting("100 ms")
    assert len(calls) in (99, 100)
    steps = [b[0] - a[0] for a, b in pairwise(calls)]
    assert steps == pytest.approx([0.1] * len(steps))
    assert sum(acked for _, acked, *_ in calls) == pytest.approx(flow["delivered_packets"], abs=20)


def test_a_window_that_is_lowered_does_not_fall_back_into_slow_start():
    @ac.control(cadence="round")
    class Sinking:
        def on_ack(self, window, ack):
            window.cwnd = max(window.cwnd - 1, 4.0)

        def on_congestion(self, window, event):
            window.cwnd = event.in_use / 2

    net = ac.topology.Dumbbell(pairs=1, rate="10 Mbps", rtt="50 ms", buffer="20 pkt")
    tables = ["windows"]
    run = ac.Scenario(net, [ac.Flow(pair=0, cc=Sinking)], "20 s", record=tables).run()
    last = run.windows.to_pylist()[-1]
    assert (last["cwnd_segments"], last["ssthresh_segments"]) == (4.0, 4.0)


def test_a_control_paces():
    @ac.control(slow_start=False)
    class Paced:
        rate: ac.BitsPerSecond = 1e6

        def on_ack(self, window, ack):
            window.cwnd, window.pacing_bps = 100.0, self.rate

        def on_congestion(self, window, event):
            pass

    net = ac.topology.Dumbbell(pairs=1, rate="10 Mbps", rtt="50 ms", buffer="100 pkt")
    run = ac.Scenario(net, [ac.Flow(pair=0, cc=Paced("2 Mbps"))], "20 s", warmup="5 s").run()
    assert max(link["utilisation"] for link in run.summary["links"]) == pytest.approx(0.2, rel=0.01)


def test_an_aqm_that_always_passes_is_drop_tail():
    # Not by digest: the books of plain FIFO count a wait when it begins, others when it ends.
    tables = ["windows", "rtts", "drops"]
    mine = scenario(qdisc=sample("DropTail"), record=tables).run()
    theirs = scenario(qdisc="fifo", record=tables).run()
    assert all(mine.table(name).equals(theirs.table(name)) for name in tables)
    assert mine.drops.num_rows > 10


@pytest.mark.parametrize(("mark", "counter"), [(False, "drops"), (True, "marks")])
def test_an_aqm_drops_and_marks_as_it_says(mark, counter):
    net = ac.topology.Dumbbell(
        pairs=1, rate="5 Mbps", rtt="40 ms", buffer="unlimited",
        qdisc=sample("EveryNth", n=20, mark=mark),
    )  # fmt: skip
    run = ac.Scenario(
        net, [ac.Flow(pair=0, cc="aimd")], "10 s", tcp={"ecn": True}, record=["packets"]
    ).run()
    packets = run.table("packets").to_pylist()
    (link,) = [link for link in run.summary["links"] if link[counter]]
    arrived = sum(
        p["link"] == link["id"] and not p["is_ack"] and p["event"] == "arrival" for p in packets
    )
    # Retransmissions are not ECN-capable (RFC 3168) and are dropped in place of a mark.
    assert link["marks"] + link["drops"] == arrived // 20
    assert link[counter] > 5


def test_runs_repeat_and_seeds_differ_on_threads():
    one = scenario(sample("Aimd"), qdisc=sample("Noisy"))
    parallel = replicate(one, 6, workers=4)
    serial = [one.replace(seed=3 + i).run() for i in range(6)]
    digests = [run.summary["digest"] for run in parallel.runs]
    assert digests == [run.summary["digest"] for run in serial]
    assert len(set(digests)) == 6


# -- what goes wrong ----------------------------------------------------------------------------


def test_an_exception_is_raised_as_it_is_with_a_note_and_the_users_line():
    with pytest.raises(LookupError) as caught:
        scenario(sample("Broken"), count=1).run()
    assert str(caught.value) == "the table has no such row"
    (note,) = caught.value.__notes__
    assert note.startswith("in flow f0 at ")
    assert note.endswith(" s of simulated time")
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (Path(last.filename), last.name) == (SAMPLES, "on_ack")
    assert "the line that the traceback shows" in last.line


def test_a_wrong_type_is_reported_at_the_users_line():
    with pytest.raises(TypeError) as caught:
        scenario(sample("Broken", how="text")).run()
    assert "the line that the message names" in traceback.extract_tb(caught.tb)[-1].line


@pytest.mark.parametrize(
    ("how", "value"), [("nan", "NaN"), ("negative", "-1"), ("absurd", "10000000000")]
)
def test_a_window_that_cannot_be_stops_the_run_and_names_class_file_and_line(how, value):
    text = SAMPLES.read_text().splitlines()
    line = next(i for i, t in enumerate(text, 1) if "the line that the message names" in t)
    with pytest.raises(ac.AlgorithmError) as caught:
        scenario(sample("Broken", how=how), count=1).run()
    reported = str(caught.value)
    assert reported.startswith(
        f"Broken.on_ack ({SAMPLES}, line {line}) set cwnd to {value} segments"
    )
    assert "in flow f0 at " in reported


def test_a_returned_value_is_reported():
    with pytest.raises(ac.AlgorithmError, match=r"Broken\.on_ack .* returned 12\.0 in flow f0"):
        scenario(sample("Broken", how="return"), count=1).run()


def test_an_aqm_that_fails_stops_the_run():
    with pytest.raises(OverflowError, match="beyond me") as caught:
        scenario(qdisc=sample("BrokenAqm")).run()
    assert "in link " in caught.value.__notes__[0]
    with pytest.raises(ac.AlgorithmError, match=r"BrokenAqm\.on_enqueue .* returned None in link"):
        scenario(qdisc=sample("BrokenAqm", how="none")).run()


def good(**members):
    def on_ack(self, window, ack):
        pass

    def on_congestion(self, window, event):
        pass

    return {"on_ack": on_ack, "on_congestion": on_congestion, **members}


@pytest.mark.parametrize(
    ("members", "reported"),
    [
        ({"on_ack": None}, "Mine has no method on_ack"),
        ({"on_ack": lambda self, window: None}, r"Mine\.on_ack\(self, window\) has the wrong"),
        ({"__annotations__": {"a": float}}, r"Mine\.a has no default"),
        ({"__annotations__": {"a": float}, "a": "x"}, r"Mine\.a: the default 'x' is not a number"),
        ({"__annotations__": {"a": dict}, "a": None}, r"Mine\.a is annotated"),
        ({"__annotations__": {"rng": int}, "rng": 1}, r"Mine\.rng cannot be a parameter"),
    ],
)
def test_a_class_that_cannot_serve_is_refused_where_it_is_defined(members, reported):
    body = {name: value for name, value in good(**members).items() if value is not None}
    if "a" in members.get("__annotations__", {}) and members.get("a", 0) is None:
        body["a"] = None
    with pytest.raises(ac.DefinitionError, match=reported):
        ac.control(type("Mine", (), body))


def test_a_cadence_that_is_none_is_refused():
    for cadence in ("akk", "-1 s", 0, None):
        with pytest.raises(ac.DefinitionError, match='expected "ack", "round" or "100 ms"'):
            ac.control(cadence=cadence)(type("Mine", (), good()))


@pytest.mark.parametrize(
    ("cc", "path", "reported"),
    [
        ({"kind": "python"}, "flows[0].cc", '"class" is missing'),
        ({"kind": "python", "class": "mine"}, "flows[0].cc", "names no class of a file"),
        (f"{HERE}/nowhere.py:Mine", "flows[0].cc", "cannot read"),
        (f"{SAMPLES}:Aimed", "flows[0].cc", 'did you mean "Aimd"?'),
        (f"{SAMPLES}:DropTail", "flows[0].cc", "is an AQM; expected a congestion control"),
        ("session:Gone", "flows[0].cc", "a session that is over"),
        (sample("Aimd", increas=1), "flows[0].cc.increas", 'did you mean "increase"?'),
        (sample("Aimd", increase="x"), "flows[0].cc.increase", "'x' is not a number"),
    ],
)
def test_what_a_scenario_says_wrong_is_reported_with_its_path(cc, path, reported):
    with pytest.raises(ac.ScenarioError) as caught:
        scenario(cc, count=1).check()
    (problem,) = caught.value.problems
    assert problem.path in (path, path.removeprefix("flows[0]."))
    assert reported in problem.message


def test_a_file_that_cannot_be_loaded_is_reported_with_its_line(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import ackclock as ac\n\nx = undefined\n")
    with pytest.raises(ac.ScenarioError, match="line 3: NameError: name 'undefined'"):
        scenario(f"{file}:Mine").check()
    file.write_text("import ackclock as ac\n@ac.control\nclass Mine:\n    pass\n")
    with pytest.raises(ac.ScenarioError, match="Mine has no method on_ack"):
        scenario(f"{file}:Mine").check()


BODY = "import sys\nimport ackclock as ac\n{first}\n@ac.control\nclass Mine:\n"
BODY += "    def on_ack(self, window, ack):\n        {second}\n"
BODY += "    def on_congestion(self, window, event):\n        pass\n"


@pytest.mark.parametrize("reps", [1, 2])
@pytest.mark.parametrize("place", ["first", "second"])
@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("sys.exit(0)", "SystemExit: 0"),
        ("sys.exit(3)", "SystemExit: 3"),
        ("raise SystemExit", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("open('/nowhere/x')", "FileNotFoundError: [Errno 2]"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_code_that_ends_or_fails_is_reported_with_its_traceback(
    line, kind, place, reps, tmp_path, capsys
):
    own = tmp_path / "mine.py"
    own.write_text(BODY.format(**{"first": "pass", "second": "pass", place: line}))
    file = tmp_path / "bad.toml"
    file.write_text(scenario("aimd", count=2).to_toml().replace('"aimd"', '"mine.py:Mine"'))
    assert main(["run", str(file), "--reps", str(reps)]) == 2
    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err.count("Traceback") == 1
    _, trace = seen.err.split("Traceback (most recent call last):\n")
    first, second, *rest = trace.splitlines()
    assert first.startswith(f'  File "{own}", line {3 if place == "first" else 7}, in ')
    assert second.strip() == line
    assert any(reported.startswith(kind) for reported in rest)


@pytest.mark.parametrize("place", ["first", "second"])
def test_ctrl_c_inside_of_ones_own_code_is_an_interrupt(place, tmp_path, capsys):
    stop = "import signal; signal.raise_signal(signal.SIGINT)"
    (tmp_path / "mine.py").write_text(
        BODY.format(**{"first": "pass", "second": "pass", place: stop})
    )
    file = tmp_path / "bad.toml"
    file.write_text(scenario("aimd", count=1).to_toml().replace('"aimd"', '"mine.py:Mine"'))
    assert main(["run", str(file)]) == 3
    assert "interrupted" in capsys.readouterr().err


def test_a_user_control_needs_the_rfc_era():
    with pytest.raises(ac.ScenarioError, match='run in era "rfc", not "2002"'):
        scenario(sample("Aimd"), era="2002").check()


# -- files --------------------------------------------------------------------------------------


def test_scenarios_with_user_code_round_trip():
    one = ac.load(EXAMPLE)
    assert ac.load(one.to_toml()) == one
    assert ac.load(one.to_json()) == one
    two = scenario(sample("Aimd", increase=2.0))
    assert ac.load(two.to_toml()) == two
    assert ac.load(two.to_toml()).run().summary["digest"] == two.run().summary["digest"]


def test_the_bundle_keeps_the_code_and_its_hash(tmp_path):
    import hashlib

    run = ac.load(EXAMPLE).replace(duration="5 s", warmup="1 s").run()
    (entry,) = run.summary["user_code"]
    source = EXAMPLE.with_suffix(".py").read_bytes()
    assert entry["class"] == "DelayAimd"
    assert entry["sha256"] == hashlib.sha256(source).hexdigest()
    bundle = run.save(tmp_path / "bundle")
    assert (bundle / "code" / "my_control.py").read_bytes() == source
    provenance = json.loads((bundle / "provenance.json").read_text())
    assert provenance["user_code"] == run.summary["user_code"]
    assert provenance["user_code_hash"] == run.summary["user_code_hash"]
    again = ac.load_run(bundle).scenario.run()
    assert again.summary["digest"] == run.summary["digest"]
    assert again.summary["user_code_hash"] == run.summary["user_code_hash"]
    assert "user_code" not in scenario().run().summary


def test_the_command_line_runs_a_file_and_reports_a_users_own_error(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(EXAMPLE), "--set", "duration=10 s", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["flows"][0]["cc"] == "python:DelayAimd"
    file = tmp_path / "bad.toml"
    file.write_text(scenario(sample("Broken"), count=1).to_toml())
    assert main(["run", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.splitlines()[1].startswith(f'  File "{SAMPLES}", line ')
    monkeypatch.chdir(HERE)
    assert main(["run", str(file)]) == 2
    assert f'  File "{SAMPLES.name}", line ' in capsys.readouterr().err
    assert "LookupError: the table has no such row\nin flow f0 at " in error


def test_a_class_of_a_script_serves_in_its_own_process(tmp_path):
    script = tmp_path / "experiment.py"
    script.write_text(
        "import ackclock as ac\n"
        "@ac.control\n"
        "class Mine:\n"
        "    a: float = 1.0\n"
        "    def on_ack(self, window, ack):\n"
        "        window.cwnd += self.a / window.cwnd\n"
        "    def on_congestion(self, window, event):\n"
        "        window.cwnd = event.in_use / 2\n"
        "if __name__ == '__main__':\n"
        "    net = ac.topology.Dumbbell(pairs=1, rate='5 Mbps', rtt='40 ms', buffer='20 pkt')\n"
        "    s = ac.Scenario(net, [ac.Flow(pair=0, cc=Mine(2.0))], '5 s')\n"
        "    open('s.toml', 'w').write(s.to_toml())\n"
        "    print(s.run().summary['digest'])\n"
    )
    done = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    again = ac.load(tmp_path / "s.toml")
    assert again.data["flows"][0]["cc"]["class"] == f"{script}:Mine"
    assert again.run().summary["digest"] == done.stdout.strip()


def test_the_command_line_sets_a_parameter_of_a_class_given_by_name(tmp_path, capsys):
    example = Path(__file__).parents[2] / "examples" / "my_control.py"
    (tmp_path / "mine.py").write_text(example.read_text())
    file = tmp_path / "case.toml"
    file.write_text(
        'duration = "3 s"\nnet = { kind = "dumbbell", pairs = 2, rate = "5 Mbps", rtt = "40 ms" }\n'
        'flows = [{ pair = 0 }, { id = "own", pair = 1, cc = "mine.py:DelayAimd" }]\n'
    )
    said = []
    for change in ("flows[1].cc.target=3ms", "flows[own].cc.target=3 ms", "flows[1].cc.a=2"):
        assert main(["run", str(file), "--json", "--set", change]) == 0
        said.append(json.loads(capsys.readouterr().out)["digest"])
    assert said[0] == said[1] != said[2]
    assert main(["run", str(file), "--set", "flows[1].cc.targe=3ms"]) == 2
    assert 'did you mean "target"' in capsys.readouterr().err
