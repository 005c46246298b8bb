"""The lab in a cell of JupyterLab, in a browser: the widget is shown and runs its scenario.

Needs JupyterLab (`pip install jupyterlab`), Playwright's Python package, Chromium and the lab's
page (`make web`).
"""

import importlib.util
import re
import shutil
import subprocess
import sys

import nbformat
import pytest

import ackclock as ac
from ackclock.lab import server
from conftest import SMALL

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HAS_JUPYTERLAB = importlib.util.find_spec("jupyterlab") is not None
playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
pytest.importorskip("anywidget", reason="anywidget is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_JUPYTERLAB, reason="needs JupyterLab: pip install jupyterlab"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
    pytest.mark.skipif(not server.PAGE.is_file(), reason="needs the lab's page: make web"),
]

TEXT = SMALL.replace('"10 s"', '"3 s"')
CELL = f"import ackclock as ac\nac.load({TEXT!r}).lab()"


@pytest.fixture
def address(tmp_path, monkeypatch):
    """JupyterLab of this environment, with a notebook, and its settings in a separate folder."""
    (tmp_path / "work").mkdir()
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, tmp_path / "work/lab.ipynb")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    command += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={tmp_path / 'work'}"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as program:
        try:
            assert program.stderr is not None
            lines = (
                re.search(r"http://127\.0\.0\.1:\d+/lab\?token=\w+", line)
                for line in program.stderr
            )
            yield next(found[0] for found in lines if found).replace(
                "/lab?", "/lab/tree/lab.ipynb?"
            )
        finally:
            program.terminate()
            program.communicate()


def test_the_lab_is_shown_in_a_cell_and_runs_with_the_native_digest(address):
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.set_default_timeout(0)
        opened.goto(address)
        opened.locator(".jp-Notebook .jp-CodeCell").first.click()
        # The kernel is there when the notebook says that it waits for work.
        opened.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
        opened.keyboard.press("Shift+Enter")
        shown = opened.frame_locator("iframe[title='ackclock lab']").locator("body[data-digest]")
        shown.wait_for()
        assert shown.get_attribute("data-digest") == ac.load(TEXT).run().summary["digest"]
        browser.close()
