"""A paper from somebody else: its queries read its tables and nothing else."""

import threading
from pathlib import Path

import pytest

from ackclock._util import confined_sql
from ackclock.reproduce.read.folder import PaperError, read
from ackclock.reproduce.run.database import Database


@pytest.fixture
def database(paper):
    return Database(read(paper))


def refused(database, text):
    with pytest.raises(PaperError) as caught:
        database.query(text, Path("claims.toml"), "claim[X].measure")
    (problem,) = caught.value.problems
    assert problem.path == "claim[X].measure"
    return problem.message


@pytest.mark.parametrize(
    "reader", ["read_text('{0}')", "read_csv('{0}')", "read_blob('{0}')", "glob('{0}')", "'{0}'"]
)
def test_a_query_reads_no_file(database, tmp_path, reader):
    secret = tmp_path / "secret.csv"
    secret.write_text("the secret\n1\n")
    text = f"SELECT * FROM {reader.format(secret)}"
    assert "the secret" not in refused(database, text)


def test_a_query_over_too_many_rows_ends_with_one_sentence(database, monkeypatch):
    monkeypatch.setattr(confined_sql, "TIME_S", 0.5)
    message = refused(database, "SELECT sum(hash(range)) FROM range(100000000000)")
    assert message.startswith("the query was ended after 0.5 s")
    assert "\n" not in message


def test_expected_values_are_handed_in(database):
    (name, *_) = database.paper.expected
    found = database.query(f"SELECT count(*) AS n FROM expected.{name}", Path("claims.toml"), "x")
    assert found.to_pylist()[0]["n"] > 0


def test_a_link_out_of_the_folder_is_refused(paper, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("# Source: elsewhere\na\n1\n")
    (paper / "expected" / "linked.csv").symlink_to(secret)
    with pytest.raises(PaperError, match="leads out of the paper's folder"):
        read(paper)


def test_no_thread_outlives_a_query(database):
    """One that wakes while the interpreter ends aborts the process."""
    before = threading.enumerate()
    database.query("SELECT 1 AS value", Path("claims.toml"), "claim[X].measure")
    refused(database, "SELECT * FROM loss.flow")
    assert threading.enumerate() == before
