"""Files of released versions open, or a sentence says what to change (docs/stability.md).

Each folder beside this file is what `tools/release/keep_forms.py` kept of a version, and never
changes. A form that no longer opens has an entry in `changed.toml` of that folder: the file, and as
`write` the words of the message that say what to write instead.
"""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from ackclock.cli.main import EXIT_INPUT, main
from release.keep_forms import read_bundle, read_store

VERSIONS = sorted(folder for folder in Path(__file__).parent.iterdir() if folder.name[0].isdigit())
DOCUMENTS = [
    (folder, file.relative_to(folder).as_posix())
    for folder in VERSIONS
    for file in sorted((folder / "documents").rglob("*.toml"))
]


def changed(folder):
    file = folder / "changed.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def test_the_first_version_is_kept_and_what_is_changed_is_a_file_of_it():
    assert VERSIONS[0].name == "0.1.0"
    for folder in VERSIONS:
        assert (folder / "documents/parking-lot.toml").is_file()
        for name, entry in changed(folder).items():
            assert (folder / name).exists()
            assert set(entry) == {"write"}


@pytest.mark.parametrize(
    ("folder", "name"), DOCUMENTS, ids=[f"{folder.name}:{name}" for folder, name in DOCUMENTS]
)
def test_a_document_opens_or_says_what_to_write_instead(folder, name, capsys):
    file = str(folder / name)
    if name == "documents/sweep.toml":
        command = ["sweep", file, "--dry-run"]
    elif name.startswith("documents/games/"):
        command = ["game", file, "--dry-run"]
    else:
        command = ["check", file]
    code = main(command)
    said = capsys.readouterr()
    if name in changed(folder):
        assert code == EXIT_INPUT
        assert changed(folder)[name]["write"] in said.err
    else:
        assert code == 0, said.err


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
@pytest.mark.parametrize(("name", "read"), [("store", read_store), ("run", read_bundle)])
def test_a_store_and_a_bundle_hold_what_they_held(folder, name, read, tmp_path, capsys):
    # Opening a store writes locks beside it.
    kept = shutil.copytree(folder / name, tmp_path / name)
    if name in changed(folder):
        assert main(["results", "list", "--store", str(kept)]) == EXIT_INPUT
        assert changed(folder)[name]["write"] in capsys.readouterr().err
        return
    expected = json.loads((folder / "expected.json").read_text("utf-8"))[name]
    assert len(expected) > 1
    assert json.loads(json.dumps(read(kept))) == expected


def test_a_form_that_is_gone_is_noticed(tmp_path, capsys):
    file = tmp_path / "x.toml"
    text = (VERSIONS[0] / "documents/parking-lot.toml").read_text("utf-8")
    file.write_text("hops_of_old = 3\n" + text, "utf-8")
    assert main(["check", str(file)]) == EXIT_INPUT
    assert "hops_of_old" in capsys.readouterr().err
