"""Values that `--set` takes: those of TOML, and all else as text."""

import pytest

from ackclock.cli.options import _value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3), ("0.5", 0.5), ("true", True), ('"3"', "3"), ("[1, 2]", [1, 2]),
        ('{ kind = "red", min_th = 5 }', {"kind": "red", "min_th": 5}),
        ("10 Mbps", "10 Mbps"), ("cubic", "cubic"), ("", ""), ("[1, 2", "[1, 2"),
        # Deeper than a parser goes.
        ("[" * 5000 + "]" * 5000, "[" * 5000 + "]" * 5000),
    ],
)  # fmt: skip
def test_what_is_no_toml_is_text(text, value):
    found = _value(text)
    assert found == value
    assert type(found) is type(value)
