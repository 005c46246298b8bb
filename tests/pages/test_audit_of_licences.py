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
