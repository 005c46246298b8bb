"""A paper from somebody else: its queries read its tables and nothing else."""

import os
import threading
from pathlib import Path

import pytest

from ackclock._util import confined_sql, foreign_files
from ackclock.reproduce.read import views as view_texts
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


def only_problem(paper):
    with pytest.raises(PaperError) as caught:
        read(paper)
    (problem,) = caught.value.problems
    assert "\n" not in str(problem)
    return problem


@pytest.mark.parametrize("name", ["claims.toml", "expected/linked.csv", "scenarios/a.toml", "x/y"])
@pytest.mark.parametrize("target", ["/dev/zero", "/etc/hostname", "paper.toml", "nowhere"])
def test_a_link_in_a_paper_is_refused_wherever_it_leads(paper, name, target):
    at = paper / name
    at.parent.mkdir(exist_ok=True)
    at.unlink(missing_ok=True)
    at.symlink_to(target if target.startswith("/") else paper / target)
    problem = only_problem(paper)
    assert (problem.file, problem.message) == (
        str(at), "it is a link; expected files and folders only"
    )  # fmt: skip


def test_a_pipe_in_a_paper_is_refused_and_not_waited_for(paper):
    (paper / "views.toml").unlink(missing_ok=True)
    os.mkfifo(paper / "views.toml")
    assert "no regular file" in only_problem(paper).message


def test_a_paper_with_very_many_or_very_deep_folders_is_refused(paper, monkeypatch):
    monkeypatch.setattr(foreign_files, "MOST_FILES", 50)
    for i in range(60):
        (paper / f".{i}").touch()
    assert "more than 50 files" in only_problem(paper).message
    monkeypatch.setattr(foreign_files, "MOST_FILES", 500)
    paper.joinpath(*["d"] * 60).mkdir(parents=True)
    assert "more than 20 levels deep" in only_problem(paper).message


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("name", ["claims.toml", "paper.toml", "unstated.toml", "scenarios/a.toml"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"a = {DEEP}".encode(), "nested more than 100 levels deep"),
        (b"a = '\xff'", "it is not UTF-8 text"),
        (b"a = \x00", "not valid TOML"),
    ],
)
def test_what_is_no_toml_is_reported(paper, name, content, message):
    (paper / name).write_bytes(content)
    with pytest.raises(PaperError) as caught:
        read(paper)
    (about,) = [p for p in caught.value.problems if p.file == str(paper / name)]
    assert message in about.message


def test_expected_values_that_are_no_text_are_reported(paper):
    (paper / "expected" / "bad.csv").write_bytes(b"# Source: here\na\n\xff\n")
    assert only_problem(paper).message == "it is not UTF-8 text"


def test_views_that_double_are_refused_before_they_fill_the_memory(paper):
    views = ['v0="SELECT 1 AS value"'] + [
        f'v{i}="SELECT * FROM views.v{i - 1} UNION ALL SELECT * FROM views.v{i - 1}"'
        for i in range(1, 41)
    ]
    (paper / "views.toml").write_text("[view]\n" + "\n".join(views))
    with pytest.raises(PaperError, match="becomes longer than 1,048,576 characters"):
        read(paper)


def test_queries_of_a_paper_are_bounded_together(monkeypatch):
    monkeypatch.setattr(view_texts, "MOST_CHARACTERS", 1000)
    found = []
    document = {"claim": [{"measure": "FROM views.v"} for _ in range(200)]}
    made = view_texts.insert_queries(
        document, {"v": "x" * 900}, lambda *problem: found.append(problem)
    )
    assert sum(len(claim["measure"]) for claim in made["claim"]) < 66 * 1000
    assert len(found) > 100


def test_a_chain_of_views_may_not_be_very_long(paper):
    views = ['v0="SELECT 1 AS value"'] + [f'v{i}="FROM views.v{i - 1}"' for i in range(1, 3001)]
    (paper / "views.toml").write_text("[view]\n" + "\n".join(reversed(views)))
    with pytest.raises(PaperError, match="made of each other more than 50 levels deep"):
        read(paper)


def test_no_thread_outlives_a_query(database):
    """One that wakes while the interpreter ends aborts the process."""
    before = threading.enumerate()
    database.query("SELECT 1 AS value", Path("claims.toml"), "claim[X].measure")
    refused(database, "SELECT * FROM loss.flow")
    assert threading.enumerate() == before
