"""The command that reports name carries no folder of its author."""

import pytest

from ackclock._util.command_line import command_line


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("/data/me/net.toml", "net.toml"),
        ("HERE/in/net.toml", "in/net.toml"),
        ("HERE", "."),
        ("--out=/data/me/out/", "--out=out"),
        ("flows[0].cc=/data/me/mine.py:Mine", "'flows[0].cc=mine.py:Mine'"),
        ("a.toml", "a.toml"),
        ("../b/a.toml", "../b/a.toml"),
        ("tcp://host:1", "tcp://host:1"),
        ("net.rate=3/4", "net.rate=3/4"),
        ("/a/b=c,/d/e", "b=c,e"),
        ("/", "/"),
    ],
)
def test_absolute_paths_are_left_out(tmp_path, monkeypatch, given, expected):
    monkeypatch.chdir(tmp_path)
    assert command_line([given.replace("HERE", str(tmp_path))]) == f"ackclock {expected}"
