"""The author's texts: read by heading, printed under what was measured, deciding no verdict."""

import json
import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from ackclock._util.foreign_files import ForeignFileError
from ackclock.cli.main import main
from ackclock.dossier.arguments import MOST_CHARACTERS, ArgumentError, read_arguments
from ackclock.dossier.read import read
from ackclock.dossier.write.summary import escape

TEXT = """# What we argue, and a note that is not read

## 8 Security
Marks & <b>acknowledgements</b> are all that it reads.

```
## 7.10-shared is code here
```

## 7.10-shared: several paths
A control of | one path.
"""


@pytest.fixture(scope="module")
def profile():
    return read("rfc9743")


def written(tmp_path, text):
    file = tmp_path / "argue.md"
    file.write_text(text, encoding="utf-8")
    return file


def test_headings_name_requirements_by_id_or_by_a_section_of_one(tmp_path, profile):
    texts = read_arguments(written(tmp_path, TEXT), profile)
    assert list(texts) == ["8-security", "7.10-shared"]
    assert texts["7.10-shared"] == "A control of | one path."
    assert "## 7.10-shared is code here" in texts["8-security"]


def test_all_that_is_wrong_is_said_at_once_each_with_its_line(tmp_path, profile):
    text = (
        "## 8-securty\nx\n## 7.10\nx\n## 8\n\n## 7.6\na\n## 7.6-misbehaving\nb\n"
        f"## 5.1.2\n{'y' * (MOST_CHARACTERS + 1)}\n"
    )
    with pytest.raises(ArgumentError) as caught:
        read_arguments(written(tmp_path, text), profile)
    expected = (
        ('line 1: rfc9743 has no requirement "8-securty"', '"8-security"'),
        ("line 3: section 7.10 has 5 requirements", "7.10-failover, 7.10-shared"),
        ("line 5: 8-security has no text",),
        ("line 9: 7.6-misbehaving is argued twice",),
        ("line 11: 5.1.2-queue has 20,001 characters",),
    )
    assert len(caught.value.problems) == len(expected)
    for problem, words in zip(caught.value.problems, expected, strict=True):
        assert all(word in problem for word in words), problem


def test_a_file_that_argues_nothing_is_refused_with_the_form(tmp_path, profile):
    with pytest.raises(ArgumentError, match="argues nothing; expected headings as"):
        read_arguments(written(tmp_path, "# only a title\n"), profile)


def test_a_pipe_or_bytes_that_are_no_text_are_refused(tmp_path, profile):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ForeignFileError):
        read_arguments(tmp_path / "pipe", profile)
    (tmp_path / "bytes").write_bytes(b"## 8\n\xff\xfe")
    with pytest.raises(ForeignFileError, match="UTF-8"):
        read_arguments(tmp_path / "bytes", profile)


def run(*words):
    text = StringIO()
    with redirect_stdout(text), redirect_stderr(text):
        code = main(["dossier", *words, "--quiet", "--workers", "1", "--reps", "2"])
    return code, text.getvalue()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """One dossier without the author's texts and one with them, of the same stored runs."""
    folder = tmp_path_factory.mktemp("argued")
    file = written(folder, TEXT)
    only = [word for one in ("5.1.1-backoff", "7.10-shared", "8") for word in ("--only", one)]
    words = ["aimd", *only, "--store", str(folder / "store")]
    for name, more in (("without", []), ("with", ["--argue", str(file)])):
        code, text = run(*words, "--out", str(folder / name), *more)
        assert code == 0, text
    return folder


def test_an_argument_changes_the_standing_and_no_verdict(reports):
    with_texts, without = (
        json.loads((reports / name / "dossier.json").read_text()) for name in ("with", "without")
    )
    verdicts = [
        [(row["id"], row["verdict"]) for row in one["rows"]] for one in (with_texts, without)
    ]
    assert verdicts[0] == verdicts[1]
    before = {row["id"]: row["standing"] for row in without["rows"]}
    after = {row["id"]: row["standing"] for row in with_texts["rows"]}
    assert before["7.10-shared"] == before["8-security"] == "open"
    assert after["7.10-shared"] == after["8-security"] == "argued"
    assert before["5.1.1-backoff"] == after["5.1.1-backoff"] == "measured"
    assert with_texts["standings"]["argued"] == without["standings"]["argued"] + 2
    assert "--argue argue.md" in with_texts["command"]
    assert "--argue" not in without["command"]


def test_the_page_has_the_text_as_text_and_what_was_measured_nearby(reports):
    page = (reports / "with" / "report.html").read_text()
    assert "Argued by the author." in page
    assert "Marks &amp; &lt;b&gt;acknowledgements&lt;/b&gt;" in page
    assert "of half of the link" in page
    assert "7.10 Several paths" in (reports / "with" / "page.txt").read_text()


def test_the_summary_is_one_screen_of_markdown(reports):
    text = (reports / "with" / "summary.md").read_text()
    assert text.startswith("# aimd (Akella, Seshan, Shenker, Stoica,")
    assert "| 8 | Security | MUST | argued |" in text
    assert "Met: 5.1.1 Full backoff" in text
    assert len(text.splitlines()) < 40


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a|b <c> [d](e)", "a\\|b \\<c\\> \\[d\\](e)"),
        ("`f` *g* ~h~", "\\`f\\` \\*g\\* \\~h\\~"),
        ("i\x1b\nj", "i\\\\x1b j"),
    ],
)
def test_names_from_files_are_no_marks_in_the_summary(name, expected):
    assert escape(name) == expected


def test_the_file_is_read_before_anything_runs(tmp_path):
    code, text = run("aimd", "--argue", str(tmp_path / "none.md"), "--store", str(tmp_path / "s"))
    assert code == 2
    assert "none.md" in text
    assert not (tmp_path / "s").exists()
