"""Lists of the command line as JSON: the data alone, one entry a row of the text."""

import json

import pytest

from ackclock.cli.main import main


def printed(capsys, *words):
    assert main([*words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("room", "columns", "first"),
    [
        ("networks", {"name", "description"}, "dumbbell"),
        ("network", {"name", "description"}, "fat-tree"),
        ("recovery", {"room", "name", "title", "status"}, "sack"),
        ("cc", {"room", "name", "title", "status"}, "cubic"),
    ],
)
def test_a_list_has_the_rows_of_its_text(capsys, room, columns, first):
    rows = json.loads(printed(capsys, "list", room, "--json"))
    assert all(set(row) == columns for row in rows)
    names = [row["name"] for row in rows]
    lines = printed(capsys, "list", room).splitlines()
    assert len(lines) == 1 + len(rows)
    assert all(name in line.split() for name, line in zip(names, lines[1:], strict=True))
    assert first in names
    assert len(names) == len(set(names))


def test_all_rooms_are_listed_where_none_is_named(capsys):
    rooms = {row["room"] for row in json.loads(printed(capsys, "list", "--json"))}
    assert {"cc", "qdisc", "recovery", "slow_start"} <= rooms
    assert len(rooms) > 5


def test_a_name_in_several_rooms_is_shown_from_each(capsys):
    shown = json.loads(printed(capsys, "show", "reno", "--json"))
    assert [(entry["room"], entry["name"]) for entry in shown] == [
        ("cc", "aimd"), ("recovery", "reno"),
    ]  # fmt: skip
    (one,) = json.loads(printed(capsys, "show", "recovery.reno", "--json"))
    assert one["python"] == "ackclock.recovery.Reno"
    (network,) = json.loads(printed(capsys, "show", "fat-tree", "--json"))
    assert (network["room"], network["name"]) == ("networks", "fat-tree")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["list", "ccs"], 'there is no room "ccs"; did you mean "cc"?'),
        (["show", "cubik"], 'there is no algorithm or network "cubik"; did you mean "cubic"?'),
    ],
)
def test_what_there_is_not_is_named_with_the_nearest(capsys, words, sentence):
    assert main([*words, "--json"]) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.out == ""
