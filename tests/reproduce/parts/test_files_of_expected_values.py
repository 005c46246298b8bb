"""Files of expected values, as queries of claims see them."""

import pytest

from ackclock.errors import AckclockError
from ackclock.reproduce.run import database


def values(tmp_path, text):
    file = tmp_path / "printed.csv"
    file.write_text(text, encoding="utf-8")
    return database._values(file)


def test_a_file_has_a_head_and_comments_wherever_they_are(tmp_path):
    table = values(tmp_path, "# figure 3\n# read by eye, twice\nflows,ratio\n1,0.5\n#2,9\n2,0.25\n")
    assert table.to_pydict() == {"flows": [1, 2], "ratio": [0.5, 0.25]}
    assert values(tmp_path, "name\na\n#b\nc\n").to_pydict() == {"name": ["a", "c"]}


def test_a_column_is_of_text_though_only_its_last_line_is(tmp_path):
    """All lines count, not a sample of them."""
    numbers = "\n".join(map(str, range(30_000)))
    assert values(tmp_path, f"n\n{numbers}\nnone\n").schema.field("n").type == "string"
    assert values(tmp_path, f"n\n{numbers}\n").schema.field("n").type == "int64"


def test_a_file_that_cannot_be_read_is_reported_with_its_name(tmp_path):
    with pytest.raises(AckclockError, match=r"printed\.csv"):
        database._values(tmp_path / "printed.csv")


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (
            "Binder Error: No function matches sum(VARCHAR).\n\tCandidate functions:\n"
            "\tsum(DOUBLE)\n\nLINE 1: SELECT sum(x)\n               ^",
            "binder error: No function matches sum(VARCHAR).",
        ),
        (
            'Binder Error: Referenced column "x" not found!\n'
            'Candidate bindings: "y", "z"\n\nLINE 1: x',
            'Referenced column "x" not found; there are "y", "z"',
        ),
        ("Stopped: no time", "the query fails: no time"),
    ],
)
def test_a_query_that_fails_is_one_sentence(message, sentence):
    """Without where in the text it is, and without all forms that a function has."""
    assert database._describe_error(Exception(message)) == sentence
