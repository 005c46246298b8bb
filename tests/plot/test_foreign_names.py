"""Names from strangers are text: in figures, on terminals and on pages."""

import shutil
import subprocess
import unicodedata
import xml.etree.ElementTree as ET

import pytest

from ackclock._util.text_table import printable
from ackclock.cli import main as cli

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
SCENARIO = r"""
name = "<b>x $\\frac{$ \u202egnp\u0007 \u001b[31mRED\u2066"
duration = "3 s"
[net]
kind = "graph"
[[net.links]]
a = "<b>x"
b = "$\\y$ & \u001b]0;t\u0007"
rate = "1 Mbps"
delay = "10 ms"
id = "l$_{"
[[flows]]
id = "f$\\frac{1}{$<script>\u202e"
src = "<b>x"
dst = "$\\y$ & \u001b]0;t\u0007"
cc = "cubic"
[record]
tables = ["windows", "flow_samples", "link_samples", "queues", "states", "packets", "rtts"]
interval = "100 ms"
"""


def is_harmless(text):
    """Nothing that a terminal obeys, nothing that turns or hides what follows."""
    return not [
        c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t"
    ]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.toml").write_text(SCENARIO, encoding="utf-8")
    return "n.toml"


def test_every_hidden_or_commanding_character_is_written_as_an_escape():
    every = "".join(map(chr, range(0x10000)))
    assert is_harmless(
        printable("".join(c for c in every if unicodedata.category(c) in ("Cc", "Cs")))
    )
    for code in (0x202E, 0x2066, 0x200F, 0x61C, 0x2028, 0xFEFF, 0xD800):
        assert printable(chr(code)) == f"\\u{code:04x}"
    text = "Zürich – 東京 naïve\tx\n"
    assert printable(text) == text


@pytest.mark.parametrize(
    "words",
    [["check"], ["explain"], ["explain", "--json"], ["run"], ["run", "--json"],
     ["run", "--twin"], ["run", "--reps", "2"]],
)  # fmt: skip
def test_names_command_no_terminal(file, capsys, words):
    assert cli.main([words[0], file, *words[1:]]) == 0
    said = capsys.readouterr()
    assert said.out
    assert is_harmless(said.out)


def test_names_of_a_store_command_no_terminal(file, capsys):
    from pathlib import Path

    Path("s.toml").write_text(
        'base = "n.toml"\nname = "s\\u202e\\u001b[2J"\n'
        '[over]\n"net.links[0].rate" = ["1 Mbps", "2 Mbps"]\n',
        encoding="utf-8",
    )
    for words in (
        ["sweep", "s.toml", "--store", "s"], ["results", "list", "--store", "s"],
        ["results", "query", "SELECT * FROM flows", "--store", "s"],
        ["plot", "s", "--kind", "lines", "--metric", "mean(flows.goodput_bps)", "--x",
         "net.links[0].rate", "--out", "x.svg"],
    ):  # fmt: skip
        assert cli.main(words) == 0, words
        assert is_harmless(capsys.readouterr().out), words


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["cwnd", "throughput", "queue", "delay", "fairness", "sequence", "states", "map"]
)
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_figure_shows_names_as_they_are(file, tmp_path, kind, ending):
    if not (tmp_path / "bundle").exists():
        assert cli.main(["run", file, "--out", "bundle", "--quiet"]) == 0
    code = cli.main(["plot", "bundle", "--kind", kind, "--out", f"x.{ending}"])
    assert code in (0, 2 if kind == "map" else 0)
    if code == 0 and ending == "svg":
        root = ET.parse(tmp_path / "x.svg").getroot()
        words = " ".join(root.itertext())
        assert is_harmless(words)
        if kind in ("cwnd", "throughput", "delay"):
            assert r"f$\frac{1}{$<script>" in words


def page(tmp_path):
    """A planner's page whose nodes have hostile names."""
    names = [HOSTILE, "</svg></style>" + HOSTILE, '" onload="document.title=1']
    (tmp_path / "links.csv").write_text(
        "source,target,capacity_bps\n"
        + "".join(
            ",".join('"' + name.replace('"', '""') + '"' for name in (a, b)) + ",1e9\n"
            for a, b in zip(names, names[1:] + names[:1], strict=True)
        )
    )
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    (tmp_path / "d.csv").write_text(f"source,target,demand_bps\n{quoted[0]},{quoted[1]},1e8\n")
    command = ["plan", "load", "links.csv", "--demands", "d.csv", "--out", "plan", "--quiet"]
    assert cli.main(command) == 0
    return tmp_path / "plan" / "index.html"


def test_names_on_a_page_are_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page(tmp_path).read_text(encoding="utf-8")
    assert "<script>document" not in text
    assert "<img src=x" not in text
    assert "&lt;script&gt;document" in text


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_browser_runs_nothing_of_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = page(tmp_path)
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
               f"--user-data-dir={tmp_path / 'profile'}"]  # fmt: skip

    def dom(file):
        return subprocess.run(
            [*command, file.as_uri()], capture_output=True, text=True, check=True, timeout=120
        ).stdout

    assert "<title>owned" not in dom(shown)
    assert "&lt;script&gt;document" in dom(shown)
    # The same names unescaped do run, so that the test can fail.
    bare = tmp_path / "bare.html"
    bare.write_text(f"<title>x</title><body>{HOSTILE}</body>")
    assert "<title>owned" in dom(bare)
