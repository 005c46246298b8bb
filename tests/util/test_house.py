"""The check of the house finds words outside the vocabulary and paths that lead nowhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import check_house


@pytest.fixture
def faults(tmp_path, monkeypatch):
    """Write files and return what a check says of them, by name and line."""
    monkeypatch.setattr(check_house, "ROOT", tmp_path)

    def faults(check, files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return [str(fault) for fault in check([tmp_path / name for name in files])]

    return faults


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("The core tells the sender.", "tells"),
        ("What the sender is asked for.", "asked"),
        ("It calls up the state.", "calls up"),
        ("A thread of its own.", "of its own"),
        ("The key that stands there.", "stands"),
        ("The rate wants a unit.", "wants a"),
        ("first.toml is right.", "is right"),
    ],
)
def test_a_word_outside_the_vocabulary_is_found_in_text_and_comments(faults, line, word):
    for name, text in (("a.md", line), ("b.py", f"x = 1  # {line}"), ("c.rs", f"/// {line}")):
        (found,) = faults(check_house.words, {name: f"fine\n{text}\n"})
        assert found.startswith(f'{name}:2: "{word}": write ')


@pytest.mark.parametrize(
    "line",
    [
        "A task and a mask; retelling; the basket.",
        "An outstanding segment stands for the rest.",
        "RFC 3168 says what a right shift does.",
        "a kind of its own kind",
    ],
)
def test_words_that_only_look_alike_are_left_alone(faults, line):
    assert faults(check_house.words, {"a.md": line}) == []


def test_the_vocabulary_itself_may_name_what_not_to_write(faults):
    word = "whoever"
    page = f"## Vocabulary\n| {word} | who |\n## Commits\n{word}\n"
    (found,) = faults(check_house.words, {"CONTRIBUTING.md": page})
    assert found.startswith("CONTRIBUTING.md:4:")


def test_paths_of_code_on_pages_must_exist(faults):
    files = {
        "crates/core/src/cc/vegas.rs": "",
        "python/pack/form.py": "",
        "docs/howto/a.md": "see `cc/vegas.rs`, `vegas.rs`, `crates/core/src/`,"
        " `python/pack/form.py`, `mine.py`, `run/report.html`\n`cc/reno.rs`\n`tools/none`\n",
        "ARCHITECTURE.md": "```text\n`gone.rs`\n```\n`egas.rs`\n",
        "notes.md": "`gone.rs`",
    }
    assert faults(check_house.missing_paths, files) == [
        "docs/howto/a.md:2: there is no cc/reno.rs in the repository",
        "docs/howto/a.md:3: there is no tools/none in the repository",
        "ARCHITECTURE.md:4: there is no egas.rs in the repository",
    ]


REPOSITORY = Path(__file__).resolve().parents[2]


def test_unsafe_code_is_where_the_rules_say():
    allowed = re.compile(r"#!?\[(allow|expect)\(unsafe_code\b")
    found = {
        path.name
        for path in (REPOSITORY / "crates").rglob("*.rs")
        if "target" not in path.parts and allowed.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"memory.rs", "border.rs", "randomness.rs"}
    # The stacks are a workspace beside this one.
    lints = (REPOSITORY / "Cargo.toml").read_text(encoding="utf-8")
    assert re.search(r"`memory.rs`, and `border.rs`.*\nunsafe_code = \"deny\"", lints)
    rules = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in rules for name in found)


def test_actions_of_workflows_are_pinned_by_commit():
    used = [
        line.strip()
        for path in (REPOSITORY / ".github/workflows").glob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
        # Workflows of this repository are of the same commit.
        if "uses:" in line and "uses: ./.github/workflows/" not in line
    ]
    assert used
    pinned = re.compile(r"(- )?uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
    assert [line for line in used if not pinned.match(line)] == []


def test_vague_names_count_in_long_functions_and_participles_by_themselves():
    import ast

    sys.path.insert(0, str(Path(check_house.__file__).parent / "lint"))
    import check_names

    text = "def joined(parts):\n" + 12 * "    pass\n" + "    found = 1\n\ndef f(found):\n    pass\n"
    bound = {
        (name, line) for name, line, counts in check_names.bound_names(ast.parse(text)) if counts
    }
    assert bound == {("parts", 1), ("found", 14)}
    assert [
        n for n in ("joined", "_kept", "seed", "join", "is_joined") if check_names.is_participle(n)
    ] == [
        "joined",
        "_kept",
    ]
    body = (
        "class Row:\n    at: int\n    low: int = 0\n\n"
        "    @property\n    def whole(self):\n        pass\n\n"
        "    def set(self):\n        self._kept = self.low = 1\n"
    )
    (kind,) = ast.parse(body).body
    assert check_names.field_names(kind) == {"at": 2, "low": 3, "whole": 6, "_kept": 10}
    call = ast.parse('click.option("--goal/--no-goal", "-g", "place", help="no name")', mode="eval")
    assert list(check_names.option_names(call.body)) == ["goal", "no-goal", "place"]
    rust = (
        "struct Row {\n    pub at: Time, // words\n}\n"
        "fn shared<'at>(kept: u8, list: &[u8]) -> u8 {\n    let mut found = kept;\n"
        "    for part in list {\n        join(Row { at: part });\n    }\n}\n"
    )
    names = check_names.rust_names(rust)
    assert sorted(names["rust variables"]) == [
        ("at", 2),
        ("found", 5),
        ("kept", 4),
        ("list", 4),
        ("part", 6),
    ]
    assert names["rust functions"] == [("shared", 4)]


def test_a_public_class_that_two_modules_define_is_doubled(tmp_path):
    sys.path.insert(0, str(Path(check_house.__file__).parent / "lint"))
    import check_names

    (tmp_path / "a.py").write_text("class Row:\n    class Path:\n        pass\n\nclass _Own: ...\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/c.py").write_text("class Row: ...\nclass Path: ...\nclass _Own: ...\n")
    assert check_names.doubled_classes(tmp_path) == {"Row": ["a.py", "b/c.py"]}


@pytest.mark.slow  # `make lint` runs the same
def test_few_names_of_the_package_are_vague():
    sys.path.insert(0, str(Path(check_house.__file__).parent / "lint"))
    import check_names

    assert check_names.main() == 0


def test_two_files_of_tests_have_two_names(faults):
    files = dict.fromkeys(["tests/a/test_it.py", "tests/b/test_it.py", "python/c/test_it.py"], "")
    (fault,) = faults(check_house.repeated, files)
    assert fault == "tests/b/test_it.py:1: tests/a/test_it.py has this name; find another"
