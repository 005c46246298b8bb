"""Grading: answers by the key, code in processes with limits, nothing that stops the class."""

import csv
import json
import shutil
from io import StringIO
from pathlib import Path

import pytest

from ackclock.cli.main import main
from ackclock.course.grade import grade
from ackclock.course.page import protection
from ackclock.course.sheet import FOLDER, find_sheet
from ackclock.course.students.confine import Holds
from ackclock.course.students.run import StudentLimits, run_student
from ackclock.course.tasks.source import NotUsableError, control_class
from ackclock.course.tasks.task import Item
from ackclock.errors import AckclockError
from ackclock.scenario.paths.cellular import cellular_trace, write_trace

CONTROL = """import ackclock as ac


@ac.control(cadence="round")
class Mine:
    def on_ack(self, window, ack):
        {line}
        window.cwnd += 1.0

    def on_congestion(self, window, event):
        window.cwnd = event.in_use / 2
"""
SHORT = StudentLimits(seconds=2, memory_bytes=1024 << 20)


@pytest.fixture
def traces(tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    write_trace(folder / "a.trace", cellular_trace(1))
    return folder


def run(tmp_path, line, traces):
    file = tmp_path / "student.py"
    file.write_text(CONTROL.format(line=line))
    item = Item("a", {"file": str(traces / "a.trace")})
    return run_student("control", file, [item], SHORT)


@pytest.mark.slow
def test_a_class_with_every_fault_is_graded_to_its_end(tmp_path, traces):
    place = tmp_path / "class"
    place.mkdir()
    (place / "good.py").write_text(CONTROL.format(line="pass"))
    (place / "good.toml").write_text('[answers]\ncubic-why = "b"\nwho-wins = "a"\n')
    (place / "loops.py").write_text(CONTROL.format(line="while True: pass"))
    (place / "raises.py").write_text(CONTROL.format(line="1 / 0"))
    (place / "nothing.py").write_text("x = 1\n")
    (place / "broken.py").write_text("def (\n")
    (place / "bytes.py").write_bytes(bytes(range(256)))
    (traces / "zeros.trace").write_text("0\n0\n0\n")
    graded = grade(find_sheet("contest"), place, traces=traces, limits=SHORT)
    problems = {one.student: " ".join(one.problems) for one in graded.graded}
    assert problems["good"] == ""
    good = next(one for one in graded.graded if one.student == "good")
    # One answer is correct; whatever code is worth comes on top.
    assert 0 < good.code_points <= 10
    assert good.points == 1 + good.code_points
    assert problems["loops"] == (
        "loops.py, line 7: was still running after 2 s of CPU time; it was ended"
    )
    assert problems["raises"].startswith("raises.py, line 7: ZeroDivisionError: division by zero")
    assert "no class under @ac.control" in problems["nothing"]
    assert problems["broken"].startswith("broken.py, line 1: is not Python")
    assert "is not Python" in problems["bytes"]
    assert [item.name for item in graded.items] == ["a.trace"]
    assert "zeros.trace has no time after 0 ms" in graded.notes[0]
    assert "good" in str(graded)


def test_only_unusable_traces_are_refused_before_anything_runs(tmp_path, traces):
    (traces / "a.trace").write_text("0\n0\n")
    (tmp_path / "x.py").write_text(CONTROL.format(line="pass"))
    with pytest.raises(AckclockError, match=r"no trace to grade with: .*no time after 0 ms"):
        grade(find_sheet("contest"), tmp_path / "x.py", traces=traces)
    with pytest.raises(AckclockError, match="no such file or folder of traces"):
        grade(find_sheet("contest"), tmp_path / "x.py", traces=tmp_path / "none")


def test_files_and_network_are_out_of_reach(tmp_path, traces):
    secret = tmp_path / "secret.txt"
    secret.write_text("key")
    measured, holds = run(
        tmp_path, f"open({str(secret)!r}).read() if ack.round > 0 else None", traces
    )
    if not holds.files or not holds.network:
        pytest.skip("this system has neither Landlock nor seccomp")
    assert "line 7: PermissionError" in measured.problem
    measured, _ = run(tmp_path, "import socket; socket.socket()", traces)
    assert "line 7: PermissionError" in measured.problem


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("open('mine.txt', 'w')", "line 7: PermissionError"),
        ("import os; os.fork()", "line 7: PermissionError"),
        ("import os; os.kill(os.getppid(), 9)", "line 7: PermissionError"),
        ("import subprocess; subprocess.run(['/bin/true'])", "line 7: PermissionError"),
        (
            "import resource; resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))",
            "line 7: ValueError: not allowed to raise maximum limit",
        ),
    ],
)
def test_a_student_cannot_write_start_end_or_free_themselves(tmp_path, traces, line, problem):
    measured, holds = run(tmp_path, line, traces)
    if not holds.files or not holds.network:
        pytest.skip("this system has neither Landlock nor seccomp")
    assert problem in measured.problem


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x = [0] * 10**10", "line 7: MemoryError: it took more memory than its limit"),
        ("10 ** 10 ** 9", "line 7: was still running"),
        ("import os; os._exit(0)", "it ended its process (exit code 0)"),
        ("raise SystemExit", "line 7: "),
        ("window.cwnd = float('nan'); return", "line 7: AlgorithmError"),
        ("print('noise' * 100)", ""),
    ],
)
def test_other_ends_are_named_too(tmp_path, traces, line, problem):
    measured, _ = run(tmp_path, line, traces)
    assert problem in measured.problem
    assert bool(problem) == bool(measured.problem)


def test_the_process_of_a_student_does_not_load_pandas(tmp_path, traces):
    """It takes longer than the five traces of the contest."""
    pytest.importorskip("pandas")
    file = tmp_path / "student.py"
    line = "assert 'pandas' not in __import__('sys').modules, 'pandas was loaded'"
    file.write_text(CONTROL.format(line=line))
    # What the first run loads to score itself is there in the second.
    items = [Item(name, {"file": str(traces / "a.trace")}) for name in ("first", "second")]
    measured, _ = run_student("control", file, items, SHORT)
    assert measured.problem == ""
    assert len(measured.results) == 2


def test_reading_a_file_does_not_run_it(tmp_path):
    file = tmp_path / "x.py"
    file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + CONTROL.format(line="pass"))
    assert control_class(file).name == "Mine"
    assert not (tmp_path / "ran").exists()
    file.write_text(CONTROL.format(line="pass") + CONTROL.format(line="pass"))
    with pytest.raises(NotUsableError, match=r"lines 5 and 16: 2 times class under @ac.control"):
        control_class(file)


def test_the_report_says_what_was_not_enforced(tmp_path, traces):
    (tmp_path / "x.py").write_text("x = 1\n")
    graded = grade(find_sheet("contest"), tmp_path / "x.py", traces=traces)
    assert graded.holds is None
    object.__setattr__(graded, "holds", Holds(time=True, memory=True, files=False, network=False))
    assert "Not enforced: files, network and other processes" in protection(graded)


ANSWERS = """sheet = "bufferbloat"
[answers]
longest-wait = 800
ping-100 = 0.579
ping-law = "B)"
window = "it saws"
page-100 = "2.6"
page-best = "z"
bbr-100 = true
mend = nan
"""


def test_answers_are_marked_and_what_is_wrong_with_them_is_said(tmp_path):
    place = tmp_path / "class"
    for name, text in (("ann", ANSWERS), ("bob", "x = ["), ("=cmd", 'sheet = "fairness"')):
        (place / name).mkdir(parents=True)
        (place / name / "answers.toml").write_text(text)
    graded = grade(find_sheet("bufferbloat"), place)
    students = {one.student: one for one in graded.graded}
    marks = students["ann"].marked.marks
    assert students["ann"].points == 3
    assert marks["longest-wait"].points == marks["ping-law"].points == marks["page-100"].points == 1
    assert marks["ping-100"].remark == "right in another unit; expected ms"
    assert marks["page-best"].remark == "expected one of a, b, c"
    assert marks["bbr-100"].remark == marks["mend"].remark.replace("ms", "s")
    assert marks["throughput"].remark == "no answer"
    assert marks["window"].points is None
    assert "is not TOML" in students["bob"].problems[0]
    assert 'expected "bufferbloat"' in students["=cmd"].problems[0]
    rows = list(csv.DictReader(StringIO(graded.marks_csv())))
    assert {row["student"] for row in rows} == {"ann", "bob", "'=cmd"}
    assert next(row for row in rows if row["student"] == "ann")["window"] == ""


def write_sheet(folder):
    folder.mkdir()
    shutil.copyfile(FOLDER / "bufferbloat/home.toml", folder / "home.toml")
    (folder / "sheet.toml").write_text("""title = "Mine"
about = "About."
files = ["home.toml"]
[[runs]]
id = "short"
file = "home.toml"
set = { "net.buffer" = "20 pkt" }
[[questions]]
id = "ping"
text = "How long?"
unit = "s"
points = 1
runs = ["short"]
figure = { kind = "completions" }
""")
    (folder / "key.toml").write_text("""[ping]
why = "{0} s"
tolerance = 0.1
numbers = [{ run = "short", metric = "max(rtts[flow=ping].rtt_s)" }]
""")


def test_the_command_lists_starts_and_grades(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["course", "list", "--json"]) == 0
    assert [sheet["name"] for sheet in json.loads(capsys.readouterr().out)] == [
        "bufferbloat",
        "contest",
        "fairness",
        "which-control",
    ]
    write_sheet(Path("mine"))
    assert main(["course", "key", "mine"]) == 0
    # 20 ms and 8 ms for each of 20 packets, less one in transmission.
    assert "value = 0.1" in Path("mine/key.toml").read_text()
    assert (
        main(["run", "mine/home.toml", "--set", "net.buffer=20 pkt", "--out", "r", "--quiet"]) == 0
    )
    capsys.readouterr()
    assert main(["course", "measure", "r", "max(rtts[flow=ping].rtt_s)"]) == 0
    # 20 ms and 8 ms for each of 20 packets, less one in transmission.
    assert float(capsys.readouterr().out) == pytest.approx(0.020 + 0.008 * 20, rel=0.06)
    assert main(["course", "measure", "r", "max(rtts[flow=ping].rtt)"]) == 2
    assert 'did you mean "rtt_s"' in capsys.readouterr().err
    assert main(["course", "start", "mine", "handed-in/ann"]) == 0
    assert main(["course", "grade", "mine", "handed-in", "--out", "marks", "--quiet"]) == 0
    assert Path("marks/grading.html").read_text().count("<figure>") == 1
    assert {file.name for file in Path("marks").iterdir()} == {
        "grading.html",
        "grading.json",
        "marks.csv",
        "feedback",
    }
    assert main(["course", "start", "fairness"]) == 0
    capsys.readouterr()
    assert main(["course", "start", "fairness"]) == 2
    assert main(["course", "grade", "fairness", "none"]) == 2
    assert main(["course", "start", "contst"]) == 2
    assert 'did you mean "contest"' in capsys.readouterr().err
