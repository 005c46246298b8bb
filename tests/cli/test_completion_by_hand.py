"""What the shell completes, and what a sweep shows of its state."""

import io
import sys

from click.shell_completion import CompletionItem

from ackclock.cli import completion
from ackclock.experiments.status_line import Status, show_status


def complete(names, typed=""):
    return [(item.value, item.type) for item in names(None, None, typed)]


def test_names_are_completed_by_how_they_begin():
    assert complete(completion.papers, "exam") == [("example", "plain")]
    assert ("akella", "plain") in complete(completion.profiles, "ak")
    assert complete(completion.tables, "dro") == [("drops", "plain")]
    assert complete(completion.figures, "queue-d") == [("queue-delay", "plain")]
    names = [name for name, _ in complete(completion.rooms)]
    assert {"cc", "qdisc", "slow-start"} <= set(names)
    assert not [name for name in names if "_" in name]
    assert ("aimd", "plain") in complete(completion.relations)


def test_where_a_file_may_be_named_one_is_completed_if_no_name_is_near():
    assert complete(completion.papers, "./mine") == [("./mine", "file")]
    assert complete(completion.algorithms("cc"), "./mine.py") == [("./mine.py", "file")]
    assert complete(completion.algorithms(), "./mine.py") == []
    assert complete(completion.tables, "zzz") == []


def test_algorithms_are_those_of_the_rooms_with_titles_and_other_names():
    of_cc = completion.algorithms("cc")(None, None, "cubic")
    assert of_cc[0].value == "cubic"
    assert isinstance(of_cc[0], CompletionItem)
    assert "CUBIC" in of_cc[0].help
    assert complete(completion.algorithms("qdisc"), "cubic") == [("cubic", "file")]
    assert ("fq-codel", "plain") in complete(completion.algorithms("qdisc"), "fq")
    both = {name for name, _ in complete(completion.algorithms("cc", "qdisc"))}
    assert {"cubic", "fq-codel"} <= both
    assert {"cubic", "fq-codel", "max-min"} <= {
        name for name, _ in complete(completion.algorithms())
    }
    # An algorithm's other names are completed as well.
    assert complete(completion.algorithms("cc"), "reno")[0][0].startswith("reno")


def test_relations_have_their_parameters_as_help():
    items = {item.value: item.help for item in completion.relations(None, None, "")}
    assert items["bbr"] == "cwnd_gain"


STATUS = Status("mine", "2 cores", 10, 3, 2.0, 4.0, 65.0)


def test_a_state_goes_to_a_function_or_nowhere():
    seen = []
    with show_status(seen.append) as report:
        report(STATUS)
    assert seen == [STATUS]
    assert STATUS.rate == 0.5
    assert Status("mine", "x", 1, 0, 0.0, 0.0, None).rate == 0.0
    with show_status(False) as report:
        assert report(STATUS) is None


def test_a_terminal_has_a_bar_with_name_and_state(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    with show_status(True) as report:
        report(STATUS)
    shown = terminal.getvalue()
    assert "mine" in shown
    assert "5 of 10 runs, 3 stored before, 0.5 runs/s on 2 cores" in shown
