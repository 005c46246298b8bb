"""The keys of the lab sheets: every number is measured anew, every right choice follows."""

import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from ackclock.cli.main import main
from ackclock.course.measure import measure, run_of
from ackclock.course.sheet import FOLDER, find_sheet, read_sheet, sheets
from ackclock.course.start import start
from ackclock.course.tasks import find_task
from ackclock.course.tasks.classifier import ClassifierTask, accuracy, confusion
from ackclock.course.tasks.control import mean_score, score
from ackclock.course.tasks.control import measure as measure_control
from ackclock.course.tasks.task import Measured
from ackclock.errors import AckclockError
from ackclock.scenario.paths.cellular import MOST, cellular_trace

NAMES = [sheet.name for sheet in sheets()]


def values(sheet, question):
    return [number.value for number in find_sheet(sheet).key[question].numbers]


def chosen(sheet, question):
    return find_sheet(sheet).key[question].choice


def test_there_are_the_four_sheets():
    assert NAMES == ["bufferbloat", "contest", "fairness", "which-control"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_number_of_a_key_is_what_its_run_gives(name):
    sheet = find_sheet(name)
    for question, expected in sheet.key.items():
        for number in expected.numbers:
            # Keys have four digits.
            measured = measure(sheet, number)
            assert number.value == pytest.approx(measured, rel=6e-4), (question, number)


@pytest.mark.parametrize("name", NAMES)
def test_each_question_has_an_answer_a_reason_and_at_most_one_figure(name):
    sheet = find_sheet(name)
    for question in sheet.questions:
        expected = sheet.key[question.id]
        assert "{" not in expected.explanation
        assert question.kind == "open" or question.figure, question.id
        if question.kind == "choice":
            assert 0 <= expected.choice < len(question.answers)
            assert expected.numbers
        if question.kind == "number":
            low, high = expected.range
            assert 0 < high - low < 0.25 * abs(expected.number)


def test_the_choices_of_bufferbloat_follow_from_its_numbers():
    for longest, packets in zip(values("bufferbloat", "ping-law"), (5, 20, 100), strict=True):
        # Propagation, 8 ms a packet, and the packet in transmission.
        assert longest == pytest.approx(0.020 + 0.008 * packets, rel=0.06)
    assert find_sheet("bufferbloat").key["longest-wait"].number == 100 * 12000 / 1.5e6 * 1e3
    times = values("bufferbloat", "page-best")
    assert times.index(min(times)) == chosen("bufferbloat", "page-best")
    short, long = values("bufferbloat", "throughput")
    assert short > 0.99 * long
    assert chosen("bufferbloat", "throughput") == 0
    bbr, reno = values("bufferbloat", "bbr-5")[:2]
    assert bbr > 3 * reno
    assert chosen("bufferbloat", "bbr-5") == 2


def test_the_choices_of_fairness_follow_from_its_numbers():
    assert find_sheet("fairness").key["aimd-jain"].number == pytest.approx(1, abs=0.005)
    assert find_sheet("fairness").key["aiad-ratio"].number > 5
    first, second = values("fairness", "mimd")
    assert 1.5 < first / second < 10
    assert chosen("fairness", "mimd") == 1
    assert values("fairness", "miad")[0] == pytest.approx(0.5, abs=0.1)
    assert chosen("fairness", "miad") == 1
    # The square-root law: shares go as the inverse of the round trips.
    flows = {
        flow["id"]: flow for flow in run_of(find_sheet("fairness"), "bias-red").summary["flows"]
    }
    law = flows["long"]["srtt_mean_s"] / flows["short"]["srtt_mean_s"]
    assert find_sheet("fairness").key["bias-red"].number == pytest.approx(law, rel=0.1)
    # Lakshman and Madhow: drop-tail is worse than the inverse ratio.
    assert find_sheet("fairness").key["bias"].number > law**1.5
    short, long = values("fairness", "bias-fq")
    assert short == pytest.approx(long, rel=0.01)


def test_the_long_flow_loses_more_in_the_small_buffer_and_as_much_over_red():
    def losses(run):
        flows = run_of(find_sheet("fairness"), run).summary["flows"]
        return [flow["window_lost_data_packets"] / flow["window_sent_packets"] for flow in flows]

    short, long = losses("bias")
    assert long > 2 * short
    short, long = losses("bias-red")
    assert long == pytest.approx(short, rel=0.1)


def test_the_choices_of_the_contest_and_the_classifier_follow_from_their_numbers():
    *delays, a, b, c = values("contest", "who-wins")
    scores = [score(rate, delay) for rate, delay in zip((a, b, c), delays, strict=True)]
    assert scores.index(max(scores)) == chosen("contest", "who-wins")
    assert values("contest", "cubic-why")[0] > 500
    drops = values("which-control", "short-queue")
    assert drops.index(0) == chosen("which-control", "short-queue")
    reno, cubic = values("which-control", "cut")
    assert cubic > reno


def test_the_practice_trace_is_drawn_from_the_published_model():
    shipped = (FOLDER / "contest/practice.trace").read_text().split()
    assert [int(line) for line in shipped] == cellular_trace(0)
    times = cellular_trace(3)
    assert times == sorted(times)
    assert times[-1] == 60_000
    # A rate of at most 1000 packets a second: rarely more than 1250 in a second.
    counts = [sum(1 for time in times if s * 1000 < time <= (s + 1) * 1000) for s in range(60)]
    assert max(counts) < 1.25 * MOST
    assert min(counts) == 0  # outages
    assert cellular_trace(3) != cellular_trace(4)


def test_the_reference_control_gets_all_points_and_the_starter_few(tmp_path):
    sheet = find_sheet("contest")
    task = find_task("control")
    items, _ = task.items(sheet.task, 1, None, tmp_path)
    items = items[:2]

    def measured(cc):
        return Measured({i.name: measure_control(i.data["file"], cc) for i in items})

    baselines = {name: measured(name) for name in ("cubic", "vegas")}
    best = measured(f"{sheet.folder}/reference.py:Reference")
    assert task.share(best, items, baselines, sheet.task) == 1.0
    begun = measured(f"{sheet.folder}/control.py:Mine")
    assert task.share(begun, items, baselines, sheet.task) < 0.4
    assert task.share(baselines["cubic"], items, baselines, sheet.task) == 0.0
    assert mean_score(Measured(), items) == -10


@pytest.mark.slow
def test_the_reference_classifier_names_most_hidden_runs(tmp_path):
    sheet = find_sheet("which-control")
    task = ClassifierTask()
    items, _ = task.items({**sheet.task, "hidden_each": 5}, 1, None, tmp_path)
    file = str(sheet.folder / "reference.py")
    measured = Measured({i.name: task.work(file, "classify", i.data) for i in items})
    assert accuracy(measured, items) >= 0.8
    matrix = confusion(measured, items, sheet.task["labels"])
    assert [sum(row) for row in matrix] == [5, 5, 5, 5]
    assert sum(matrix[n][n] for n in range(4)) == accuracy(measured, items) * 20
    starter = str(sheet.folder / "classify.py")
    begun = Measured({i.name: task.work(starter, "classify", i.data) for i in items})
    assert accuracy(begun, items) < 0.6


@pytest.mark.slow
def test_a_student_of_the_classifier_gets_labelled_runs_that_do_not_name_it_otherwise(tmp_path):
    folder = start(find_sheet("which-control"), tmp_path / "w")
    check_folder(find_sheet("which-control"), folder)
    lines = [json.loads(line) for line in (folder / "practice.jsonl").read_text().splitlines()]
    assert len(lines) == 24
    assert {line["label"] for line in lines} == {"reno", "cubic", "vegas", "bbr3"}
    keys = {"rate_mbps", "rtt_ms", "buffer_packets", "time_s", "queue_packets", "drops"}
    assert {*lines[0]["run"]} == keys


def check_folder(sheet, folder):
    assert not {"key.md", "key.toml", "reference.py"} & {file.name for file in folder.iterdir()}
    assert tomllib.loads((folder / "answers.toml").read_text())["sheet"] == sheet.name
    text = (folder / "sheet.md").read_text()
    for question in sheet.questions:
        assert question.text in text
        assert sheet.key[question.id].explanation not in text


@pytest.mark.parametrize("name", ["bufferbloat", "contest", "fairness"])
def test_a_student_gets_no_key_and_their_answers_are_never_replaced(name, tmp_path):
    sheet = find_sheet(name)
    folder = start(sheet, tmp_path / "mine")
    check_folder(sheet, folder)
    with pytest.raises(AckclockError):
        start(sheet, tmp_path / "mine")
    assert (start(sheet, tmp_path / "teacher", key=True) / "key.md").is_file()


def test_a_sheet_of_a_teacher_is_one_folder_and_its_mistakes_are_named(tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "sheet.toml").write_text(
        'title = "Mine"\nabout = "x"\n[[questions]]\nid = "q"\ntext = "?"\nunit = "s"\npoints = 1\n'
    )
    with pytest.raises(AckclockError, match=r"key\.toml: cannot be read"):
        read_sheet(mine)
    (mine / "key.toml").write_text('[p]\nwhy = "so"\nanswer = 1\n')
    with pytest.raises(AckclockError, match="has no answer to q"):
        read_sheet(mine)
    (mine / "key.toml").write_text('[q]\nwhy = "so"\nanswr = 1\n')
    with pytest.raises(AckclockError, match='did you mean "answer"'):
        read_sheet(mine)
    (mine / "key.toml").write_text('[q]\nwhy = "so"\nanswer = 1\n')
    assert find_sheet(str(mine)).key["q"].number == 1
    with pytest.raises(AckclockError, match='did you mean "fairness"'):
        find_sheet("fairnes")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_sheet_can_be_followed_from_its_first_command_to_its_last(name, tmp_path):
    folder = start(find_sheet(name), tmp_path / "mine")
    blocks = re.findall(r"```sh\n(.*?)```", (folder / "sheet.md").read_text(), re.DOTALL)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    printed = {}
    for command in "".join(blocks).splitlines():
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
        printed[command] = done.stdout
    drawn = {file.stem for file in folder.glob("*.svg")}
    assert drawn == {q.id for q in find_sheet(name).questions if q.figure}
    # What students measure by the sheet is an answer that counts.
    answers = {}
    for question in find_sheet(name).questions:
        expected = find_sheet(name).key[question.id]
        if question.kind == "number" and expected.answer is None:
            numbers = [
                float(printed[number.command]) for number in expected.numbers[: 1 + expected.ratio]
            ]
            answer = numbers[0] / numbers[1] if expected.ratio else numbers[0] * expected.scale
            low, high = expected.range
            assert low <= answer <= high, question.id
            answers[question.id] = answer
        elif question.kind == "number":
            answers[question.id] = expected.answer
        elif question.kind == "choice":
            answers[question.id] = "abcd"[expected.choice]
        else:
            answers[question.id] = "As the figure shows."
    hand_in(find_sheet(name), folder, answers)


def hand_in(sheet, folder, answers):
    """Grade right answers and the instructor's code: all points that no person gives."""
    # Each answer in the place that the sheet's file has for it.
    text = (folder / "answers.toml").read_text()
    for question, answer in answers.items():
        place = re.compile(rf"^(?:# )?{question} = .*(?:\n\"\"\")?", re.MULTILINE)
        text, count = place.subn(f"{question} = {json.dumps(answer)}", text)
        assert count == 1, question
    (folder / "answers.toml").write_text(text)
    if sheet.task:
        code = folder / find_task(sheet.task["kind"]).FILE
        assert code.is_file()  # what the student was given to change
        code.write_bytes((sheet.folder / "reference.py").read_bytes())
    arguments = ["course", "grade", sheet.name, str(folder), "--out", str(folder / "marks")]
    assert main([*arguments, "--seed", "7", "--quiet"]) == 0
    (student,) = csv.DictReader(StringIO((folder / "marks/marks.csv").read_text()))
    graded = json.loads((folder / "marks/grading.json").read_text())
    assert graded["students"][0]["problems"] == []
    assert float(student["points"]) == graded["points_by_machine"]


def test_confusion_counts_each_run_once_and_what_is_no_label_apart():
    """Rows are what it was, columns what was named, the last one what was named wrongly or not."""
    named = {"run 1": "a", "run 2": "b", "run 3": "b", "run 4": "neither"}
    measured = SimpleNamespace(results={run: {"label": label} for run, label in named.items()})
    answers = ["a", "a", "b", "b", "a"]
    items = [SimpleNamespace(name=f"run {n}", answer=of) for n, of in enumerate(answers, 1)]
    assert confusion(measured, items, ["a", "b"]) == [[1, 1, 1], [0, 1, 1]]
    assert accuracy(measured, items) == pytest.approx(2 / 5)
