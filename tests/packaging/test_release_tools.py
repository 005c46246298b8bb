"""What `make release` checks and writes: version, addresses, changelog, site, recipes."""

import re

import pytest

from release import check_release, metadata
from release.build_site import put_together, versions_in
from release.check_release import changelog_faults, publish_faults
from release.metadata import ROOT, Project, copies, cut_changelog, read_project
from release.write_recipes import RECIPES, fill

SET = Project("0.1.0", "https://code.invalid/x/ackclock", "https://x.invalid/ackclock")
LOG = "# Changelog\n\n## [Unreleased]\n\nTo be 0.1.0, the first.\n\n### Added\n\n- A thing.\n"


def test_copies_are_current():
    assert metadata.main(["--check"]) == 0


@pytest.mark.parametrize("copy", copies(SET._replace(version="9.8.7")), ids=str)
def test_a_copy_is_written_where_the_value_was_and_nowhere_else(copy):
    old = (ROOT / copy.file).read_text("utf-8")
    new = copy.written(old)
    assert copy.value in new
    changed = [
        (before, after)
        for before, after in zip(old.splitlines(), new.splitlines(), strict=True)
        if before != after
    ]
    assert len(changed) == 1
    assert copy.written(new) == new


def test_no_version_is_written_besides_the_copies():
    version = re.escape(read_project((ROOT / "Cargo.toml").read_text("utf-8")).version)
    listed = {copy.file for copy in copies(SET)} | {
        "Cargo.lock",
        "crates/ackclock-stacks/Cargo.lock",
    }
    for pattern in (
        "*.toml",
        "crates/*/Cargo.toml",
        "crates/*/*/Cargo.toml",
        "*.cff",
        "web/*.json",
    ):
        for file in ROOT.glob(pattern):
            name = file.relative_to(ROOT).as_posix()
            if re.search(rf'(?m)^\s*"?version"?[:=]? .*{version}', file.read_text("utf-8")):
                assert name in listed


def test_a_release_with_placeholders_is_not_cut(capsys):
    before = {copy.file: (ROOT / copy.file).read_bytes() for copy in copies(SET)}
    day, site = "2026-12-01", f"{metadata.PLACEHOLDER}ackclock"
    assert metadata.main(["--date", day, "--repository", SET.repository, "--site", site]) == 2
    assert "make cut REPOSITORY=URL SITE=URL" in capsys.readouterr().err
    assert {name: (ROOT / name).read_bytes() for name in before} == before


def test_a_cut_changelog_keeps_its_lines_under_the_version():
    cut = cut_changelog(LOG, "0.1.0", "2026-12-01")
    assert cut == LOG.replace(
        "## [Unreleased]\n\nTo be 0.1.0, the first.\n",
        "## [Unreleased]\n\n## [0.1.0] - 2026-12-01\n",
    )
    for text, day in ((cut, "2026-12-02"), (LOG, "1 December"), ("nothing", "2026-12-01")):
        with pytest.raises(ValueError, match=r"0\.1\.0|isoformat|Unreleased"):
            cut_changelog(text, "0.1.0", day)


def test_a_changelog_without_the_version_is_refused():
    assert list(changelog_faults(LOG, "0.1.0")) == []
    assert list(changelog_faults(cut_changelog(LOG, "0.1.0", "2026-12-01"), "0.1.0")) == []
    assert len(list(changelog_faults(LOG, "0.2.0"))) == 1
    assert len(list(changelog_faults(LOG, "0.1"))) == 1


def test_publishing_needs_a_date_a_tag_and_addresses():
    cut = cut_changelog(LOG, "0.1.0", "2026-12-01")
    cited = "version: 0.1.0\ndate-released: 2026-12-01\n"
    assert publish_faults(SET, cut, cited, ["v0.1.0"]) == []
    placeholder = SET._replace(repository=f"{metadata.PLACEHOLDER}ackclock")
    for project, log, citation, tags in (
        (SET, LOG, cited, ["v0.1.0"]),
        (SET, cut, "version: 0.1.0\n", ["v0.1.0"]),
        (SET, cut, cited, ["v0.1.1"]),
        (placeholder, cut, cited, ["v0.1.0"]),
    ):
        assert len(publish_faults(project, log, citation, tags)) == 1


def test_this_checkout_can_become_a_release(capsys):
    assert check_release.main(["--dirty"]) == 0, capsys.readouterr().err


def test_a_site_keeps_other_versions_and_leads_to_the_newest(tmp_path):
    docs, lab, out = tmp_path / "docs", tmp_path / "lab.html", tmp_path / "site"
    docs.mkdir()
    (docs / "index.html").write_text("docs")
    lab.write_text("lab")
    out.mkdir()
    for version in ("0.10.0", "0.2.0", "0.9.1", "0.10.0rc1"):
        put_together(docs, lab, out, version)
    (out / "images").mkdir()
    assert versions_in(out) == ["0.10.0", "0.10.0rc1", "0.9.1", "0.2.0"]
    assert "url=0.10.0/index.html" in (out / "index.html").read_text()
    assert (out / "0.2.0/lab/index.html").read_text() == "lab"


def test_recipes_are_filled_or_refused():
    values = {"VERSION": "9.8.7", "ADDRESS": "file:///a.tar.gz", "SHA256": "0f" * 32, "SITE": "s"}
    for source in RECIPES:
        text = fill((ROOT / source).read_text("utf-8"), values)
        assert all(value in text for value in values.values())
        assert "@" not in re.sub(r"python@3", "", text)
        with pytest.raises(ValueError, match="@VERSION@"):
            fill(text, values)
