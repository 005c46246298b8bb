"""Files of transfers that wait for others: connection matrices of htsim, schedules in GOAL."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.errors import ScenarioError
from ackclock.scenario.transfer_files.goal import read_goal
from ackclock.scenario.transfer_files.htsim import read_matrix
from ackclock.scenario.transfer_files.line_error import LineError

MATRIX = """\
# two sends in turn, and one that needs both
Nodes 4
Connections 4
Triggers 2
0->1 id 1 start 0 size 2000 send_done_trigger 1 recv_done_trigger 2
0->2 id 2 trigger 1 size 3000
3->1 id 3 start 16 size 1000 recv_done_trigger 2 prio 3
1->3 id 4 trigger 2 size 500
trigger id 1 oneshot
trigger id 2 barrier count 2
"""

GOAL = """\
num_ranks 3
rank 0 {
/* computes,
   then sends */
l1: calc 500
l2: send 1000b to 1 tag 7
l2 requires l1
l3: calc 2000 cpu 1
l3 irequires l2
l4: send 20b to 2 tag 1 cpu 0 nic 1
l4 requires l3
}
rank 1 {
l1: recv 1000b from 0 tag 7
l2: calc 300
l2 requires l1
l3: send 0b to 2 // after computing
l3 requires l2
}
rank 2 {
recv 0b from 1
recv 20b from 0 tag 1
}
"""


def rows(transfers):
    return [(t.source, t.target, t.size, t.start_s, t.after) for t in transfers]


def test_a_matrix_of_htsim_has_starts_in_microseconds_and_triggers():
    assert rows(read_matrix(MATRIX)) == [
        (0, 1, 2000, 0.0, {}),
        (3, 1, 1000, pytest.approx(16e-6), {}),
        (0, 2, 3000, 0.0, {0: 0.0}),
        (1, 3, 500, 0.0, {0: 0.0, 1: 0.0}),
    ]


def test_a_schedule_in_goal_computes_and_waits():
    first, second, third = rows(read_goal(GOAL))
    assert first == (0, 1, 1000, pytest.approx(0.5e-6), {})
    # It begins 2 us after the first send could begin, and does not wait for it to end.
    assert second == (0, 2, 20, pytest.approx(2.5e-6), {})
    assert third == (1, 2, 1, pytest.approx(0.3e-6), {0: pytest.approx(0.3e-6)})


def star(folder, name, text):
    (folder / name).write_text(text)
    file = folder / "case.toml"
    file.write_text(f"""
duration = "1 ms"
net = {{ kind = "star", hosts = 4, rate = "100 Gbps", delay = "1 us" }}
tcp = {{ syn = false }}
[[flows]]
id = "job"
cc = "dcqcn"
between = {{ kind = "listed", file = "{name}" }}
""")
    return file


def test_a_scenario_runs_the_transfers_of_a_file(tmp_path):
    run = ac.load(star(tmp_path, "four.cm", MATRIX)).run()
    flows = run.flows.to_pylist()
    ends = [(flow["src"], flow["dst"], flow["delivered_bytes"]) for flow in flows]
    assert ends == [("h0", "h1", 2000), ("h3", "h1", 1000), ("h0", "h2", 3000), ("h1", "h3", 500)]
    assert flows[1]["start_s"] == pytest.approx(16e-6)
    assert flows[2]["start_s"] == pytest.approx(flows[0]["completed_after_s"])
    # What both bring is there once the later one has arrived, before its acknowledgement.
    later = flows[1]["start_s"] + flows[1]["completed_after_s"]
    assert flows[1]["start_s"] < flows[3]["start_s"] < later
    (job,) = run.jobs.to_pylist()
    assert (job["id"], job["arrived_transfers"], job["bytes"]) == ("job", 4, 6500)
    goal = ac.load(star(tmp_path, "three.goal", GOAL)).run().flows.to_pylist()
    assert goal[1]["start_s"] == pytest.approx(2.5e-6)
    assert goal[2]["start_s"] > goal[0]["start_s"] + 0.3e-6


NODES = "Nodes 4\nConnections 1\n"
RANK = "num_ranks 2\nrank 0 {\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.cm", "", "has no line Nodes"),
        ("a.cm", NODES, "Connections is 1 and there are 0"),
        ("a.cm", NODES + "0->4 id 1 start 0 size 1", "line 3: names host 4 of 4"),
        ("a.cm", NODES + "0->0 id 1 start 0 size 1", "line 3: 0->0 sends to itself"),
        ("a.cm", NODES + "0->1 id 1 start 0", "line 3: has no size"),
        ("a.cm", NODES + "0->1 id 1 size 1", "line 3: has neither start nor trigger"),
        ("a.cm", NODES + "0->1 start -1 size 1", 'line 3: start [us] is "-1"'),
        ("a.cm", NODES + "0->1 start 0 size 1e99", 'line 3: size is "1e99"'),
        ("a.cm", NODES + "0->1 start 0 size " + "9" * 400, "line 3: size is"),
        ("a.cm", NODES + "0->1 start 0 size", 'line 3: the line ends after "size"'),
        ("a.cm", NODES + "0->1 start 0 size 1 wings 2", 'line 3: "wings" is no key'),
        ("a.cm", NODES + "0->1 trigger 9 size 1", "line 3: trigger 9 has no line"),
        ("a.cm", "Nodes 2\nfailure switch_type TOR", "line 2: failures of links are not read"),
        ("a.cm", "Nodes 2\n\0\n", "begins no line"),
        (
            "a.cm",
            MATRIX.replace("0->2", "2->0"),
            "trigger 1 is set off at host 0 and starts a connection at host 2",
        ),
        (
            "a.cm",
            "Nodes 2\nConnections 1\nTriggers 1\n0->1 trigger 1 size 1 send_done_trigger 1\n"
            "trigger id 1 oneshot\n",
            "line 4: waits for itself",
        ),
        ("a.cm", MATRIX.replace("count 2", "count 3"), "trigger 2 is set off by 2; expected 3"),
        ("a.goal", "", "sends nothing"),
        ("a.goal", RANK, "rank 0 has no end"),
        ("a.goal", "rank 0 {\n}\n", "line 1: rank 0 is not expected here, but num_ranks before"),
        ("a.goal", RANK + "l1: fly 3b\n}\n", 'line 3: "l1: fly 3b" is no statement'),
        ("a.goal", RANK + "send 1b to 1\n}\n", "line 3: there is no recv for this send"),
        ("a.goal", RANK + "send 1b to 2\n}\n", "line 3: is between rank 0 and rank 2 of 2"),
        ("a.goal", RANK + "recv 1b from -1\n}\n", "receives from any rank or tag"),
        ("a.goal", RANK + "send 1b from 1\n}\n", "line 3: send has from"),
        ("a.goal", RANK + "l1 requires l2\n}\n", "line 3: there is no label l1"),
        (
            "a.goal",
            RANK + "a: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
            "line 3: waits for itself",
        ),
        ("a.json", "{}", "ends in none of .cm, .tm and .goal"),
    ],
)
def test_a_file_that_is_none_is_refused_by_a_sentence(tmp_path, capsys, name, text, message):
    file = star(tmp_path, name, text)
    assert cli.main(["run", str(file)]) == 2
    said = capsys.readouterr().err
    assert message in said and "flows[0].between.file" in said and "Traceback" not in said


def test_files_that_are_missing_no_text_or_name_hosts_that_are_not_there(tmp_path):
    case = star(tmp_path, "four.cm", MATRIX)
    (tmp_path / "four.cm").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="is not text"):
        ac.load(case).check()
    (tmp_path / "four.cm").unlink()
    with pytest.raises(ScenarioError, match="cannot read"):
        ac.load(case).check()
    (tmp_path / "four.cm").write_text("Nodes 9\nConnections 1\n8->0 start 0 size 1\n")
    with pytest.raises(ScenarioError, match="names host 8 and there are 4 hosts"):
        ac.load(case).check()


LINES = st.sampled_from([*MATRIX.splitlines(), *GOAL.splitlines(), "", "rank 1 {", "}", "\0"])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(LINES | st.text(max_size=12), max_size=30), st.sampled_from([read_matrix, read_goal])
)
def test_lines_in_any_order_are_read_or_refused(lines, reader):
    try:
        transfers = reader("\n".join(lines))
    except LineError:
        return
    for place, transfer in enumerate(transfers):
        assert transfer.size >= 1 and transfer.source != transfer.target
        assert all(other < place for other in transfer.after)


def test_a_long_chain_of_statements_takes_no_stack():
    count = 20_000
    calcs = "".join(f"l{i}: calc 1\n" for i in range(count))
    needs = "".join(f"l{i} requires l{i - 1}\n" for i in range(1, count))
    text = f"num_ranks 2\nrank 0 {{\n{calcs}{needs}s: send 1b to 1\ns requires l{count - 1}\n}}\n"
    (transfer,) = read_goal(text + "rank 1 {\nrecv 1b from 0\n}\n")
    assert transfer.start_s == pytest.approx(count * 1e-9)
