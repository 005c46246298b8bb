"""The licences and advisories of `make audit`."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def audit(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import audit

    return audit


@pytest.mark.parametrize(
    ("licence", "accepted"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("(GPL-2.0-only OR Apache-2.0) AND AGPL-3.0-only", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("LGPL-3.0-or-later OR MPL-2.0", True),
        ("BSD License", True),
        ("", False),
        ("UNKNOWN", False),
    ],
)
def test_an_expression_is_accepted_if_accepted_licences_meet_it(audit, licence, accepted):
    assert audit.is_accepted(licence) is accepted


def test_all_dependencies_have_accepted_licences(audit, capsys):
    assert audit.audit_licences() == []
    assert "crates:" in capsys.readouterr().out


def advisories(audit, monkeypatch, capsys, output, code=1):
    """Report advisories where both programs end like this."""
    monkeypatch.setattr(audit.shutil, "which", lambda program: f"/bin/{program}")

    def run(command, **_):
        good, bad = ("", output) if code else (output, "")
        return audit.subprocess.CompletedProcess(command, code, stdout=good, stderr=bad)

    monkeypatch.setattr(audit.subprocess, "run", run)
    found = [audit.audit_crates(None), audit.audit_packages(None)]
    return found, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    "output",
    [
        "error: couldn't fetch advisory database: git operation failed",
        "ERROR:pip_audit: HTTPSConnectionPool(host='pypi.org'): Max retries: connection refused",
    ],
)
def test_a_database_that_cannot_be_reached_is_one_sentence(audit, monkeypatch, capsys, output):
    found, lines = advisories(audit, monkeypatch, capsys, output)
    assert found == [[], []]
    assert lines == [
        f"advisories of {what}: not looked up, the database cannot be reached"
        for what in (*(f"RustSec on {lock}" for lock in audit.LOCKS), "PyPI")
    ]


@pytest.mark.parametrize(
    "output",
    [
        "Crate: a\nID: RUSTSEC-2024-0403\nTitle: a denial of service over the network",
        "jinja2 3.0 PYSEC-2024-404 3.1",
        "error: not a lock file",
    ],
)
def test_what_a_program_found_is_reported(audit, monkeypatch, capsys, output):
    found, lines = advisories(audit, monkeypatch, capsys, output)
    assert [len(texts) for texts in found] == [len(audit.LOCKS), 1]
    assert all(output in text for texts in found for text in texts)
    assert lines == []


def test_a_program_that_is_missing_is_named(audit, monkeypatch, capsys):
    monkeypatch.setattr(audit.shutil, "which", lambda _: None)
    monkeypatch.setattr(audit.sys, "executable", "/nowhere/python")
    assert audit.audit_crates(None) + audit.audit_packages(None) == []
    said = capsys.readouterr().out
    assert "cargo-audit is not installed" in said
    assert "pip-audit is not installed" in said


def test_packages_that_were_not_looked_up_do_not_count_as_free_of_advisories(
    audit, monkeypatch, capsys
):
    # So pip-audit ends where PyPI's data cannot be had: with success.
    packages = [
        {"name": "a", "skip_reason": "Dependency not found on PyPI and could not be audited"},
        {"name": "b", "version": "1", "vulns": []},
        {"name": "c", "version": "2", "vulns": [{"id": "PYSEC-2024-1"}]},
    ]
    output = json.dumps({"dependencies": packages})
    (_, found), lines = advisories(audit, monkeypatch, capsys, output, code=0)
    assert found == ["advisories of PyPI: c 2: PYSEC-2024-1"]
    assert lines[-1] == "advisories of PyPI: looked up for 2 of 3 packages"


ADVISORY = """
id: PYSEC-2024-1
affected:
- ranges:
  - type: ECOSYSTEM
    events: [{introduced: "0"}, {fixed: "1.9"}, {introduced: "2.0"}, {fixed: "2.10"}]
  versions: ["7.0"]
"""


def test_an_advisory_has_ranges_of_versions(audit):
    for version, affected in [
        ("1.8.4", True), ("1.9", False), ("1.10", False), ("2.0", True), ("2.9", True),
        ("2.10", False), ("7.0", True), ("7.1", False),
    ]:  # fmt: skip
        assert audit.is_affected(ADVISORY, version) is affected, version
        assert not audit.is_affected(f"{ADVISORY}withdrawn: '2024-02-01T00:00:00Z'\n", version)


def test_a_range_may_include_its_last_version(audit):
    events = '[{introduced: "1"}, {last_affected: "3"}]'
    advisory = f"affected: [{{ranges: [{{type: ECOSYSTEM, events: {events}}}]}}]"
    affected = [audit.is_affected(advisory, version) for version in ("0.9", "1", "3", "3.1")]
    assert affected == [False, True, True, False]


def test_a_clone_of_the_database_is_looked_up_by_installed_package(audit, tmp_path, capsys):
    (tmp_path / "vulns/pytest").mkdir(parents=True)
    everything = 'affected: [{ranges: [{type: ECOSYSTEM, events: [{introduced: "0"}]}]}]'
    (tmp_path / "vulns/pytest/PYSEC-2024-2.yaml").write_text(everything)
    (found,) = audit.audit_packages(tmp_path)
    assert found == f"advisories of PyPI: pytest {pytest.__version__}: PYSEC-2024-2"
    assert "1 are in" in capsys.readouterr().out


@pytest.mark.parametrize(("passed", "code"), [(3, 0), (0, 0), (3, 1)])
def test_miri_has_to_pass_a_test(audit, monkeypatch, capsys, passed, code):
    said = f"test result: ok. {passed} passed; 0 failed"

    def run(command, **_):
        built = "Compiling libc v0.2.191\n" * 1000
        return audit.subprocess.CompletedProcess(command, code, stdout=said, stderr=built)

    monkeypatch.setattr(audit.subprocess, "run", run)
    if code:
        # There is no Miri.
        assert audit.audit_unsafe() == []
        assert "not run, it needs the component miri" in capsys.readouterr().out
    elif passed:
        assert audit.audit_unsafe() == []
        assert "3 tests passed" in capsys.readouterr().out
    else:
        (found,) = audit.audit_unsafe()
        assert said in found
