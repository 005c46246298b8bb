"""The licences of `make audit`."""

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


def advisories(audit, monkeypatch, capsys, output):
    """Report advisories where both programs end with an error and this output."""
    monkeypatch.setattr(audit.shutil, "which", lambda program: f"/bin/{program}")

    def run(command, **_):
        return audit.subprocess.CompletedProcess(command, 1, stdout="", stderr=output)

    monkeypatch.setattr(audit.subprocess, "run", run)
    found = audit.audit_advisories()
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
    assert found == []
    assert lines == [
        f"advisories of {title}: not looked up, the database cannot be reached"
        for title in ("RustSec", "PyPI")
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
    assert len(found) == 2
    assert all(output in text for text in found)
    assert lines == []


def test_a_program_that_is_missing_is_named(audit, monkeypatch, capsys):
    monkeypatch.setattr(audit.shutil, "which", lambda _: None)
    monkeypatch.setattr(audit.sys, "executable", "/nowhere/python")
    assert audit.audit_advisories() == []
    assert "cargo-audit is not installed" in capsys.readouterr().out


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
