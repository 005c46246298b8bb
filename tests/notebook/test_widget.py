"""The lab in a notebook: what the kernel sends, what a notebook shows, what runs in the page."""

import base64
import json
import shutil
import zlib

import nbformat
import pytest
from nbclient import NotebookClient

import ackclock as ac
from ackclock.lab import server
from ackclock.lab import widget as lab
from conftest import SMALL

pytest.importorskip("anywidget", reason="anywidget is not installed")
needs_page = pytest.mark.skipif(not server.PAGE.is_file(), reason="needs the lab's page: make web")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Short, so that the page is soon done.
TEXT = SMALL.replace('"10 s"', '"3 s"')


def unpacked(fragment):
    coded = fragment.removeprefix("#s=")
    packed = base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
    return zlib.decompress(packed, -15).decode()


@pytest.fixture
def page(monkeypatch, tmp_path):
    """A page that is there, whether or not the lab was built."""
    file = tmp_path / "lab.html"
    file.write_text("<p>page</p>")
    monkeypatch.setattr(server, "PAGE", file)
    return file.read_bytes()


def test_the_widget_holds_the_scenario_and_sends_the_page_on_request(page, monkeypatch):
    scenario = ac.load(TEXT)
    shown = scenario.lab(height=500)
    assert ac.load(unpacked(shown.fragment)).fingerprint == scenario.fingerprint
    assert shown.height == 500
    # The state, which a notebook saves, does not hold the page.
    state = {key: value for key, value in shown.get_state().items() if isinstance(value, str)}
    assert not any("<p>page</p>" in value for value in state.values())
    sent = []
    monkeypatch.setattr(
        type(shown), "send", lambda _, content, buffers=None: sent.append((content, buffers))
    )
    shown._handle_custom_msg({"type": "other"}, [])
    shown._handle_custom_msg({"type": "page"}, [])
    assert sent == [({"type": "page"}, [page])]


def test_the_lab_of_a_run_has_the_run_s_seed(page):
    run = ac.load(TEXT).run(seed=11)
    again = ac.load(unpacked(run.lab().fragment))
    assert again.run().summary["digest"] == run.summary["digest"]


def test_what_cannot_be_shown_is_refused(page, monkeypatch):
    @ac.control
    class Own:
        def on_ack(self, window, ack):
            pass

        def on_congestion(self, window, event):
            pass

    scenario = ac.load(TEXT)
    with pytest.raises(ac.UnsupportedError, match="do not run in the lab"):
        scenario.replace(**{"flows[0].cc": Own()}).lab()
    server.PAGE.unlink()
    with pytest.raises(ac.AckclockError, match="make web"):
        scenario.lab()
    monkeypatch.setitem(__import__("sys").modules, "anywidget", None)
    with pytest.raises(ac.AckclockError, match=r'pip install "\.\[notebook\]"'):
        scenario.lab()


@needs_page
def test_a_notebook_shows_the_widget(tmp_path):
    cells = [
        f"import ackclock as ac\nscenario = ac.load({TEXT!r})\nscenario.lab()",
        "scenario.run().lab()",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    NotebookClient(
        book, timeout=None, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    for cell in book.cells:
        (out,) = cell.outputs
        view = out.data["application/vnd.jupyter.widget-view+json"]
        assert view["model_id"]
    states = book.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    fragments = {one["state"]["fragment"] for one in states if "fragment" in one["state"]}
    assert {ac.load(unpacked(one)).fingerprint for one in fragments} == {ac.load(TEXT).fingerprint}
    # A saved notebook stays small: the page is not in it.
    assert len(json.dumps(book)) < 50_000


HOST = """<!DOCTYPE html><title>host</title><body><script type="module">
const program = new Blob([atob('PROGRAM')], { type: 'text/javascript' });
const { default: widget } = await import(URL.createObjectURL(program));
const listeners = [];
const model = {
  get: (name) => ({ fragment: 'FRAGMENT', height: 600 })[name],
  on: (_, listener) => listeners.push(listener),
  off: () => {},
  send: async () => {
    const page = Uint8Array.from(atob(window.page), (letter) => letter.charCodeAt(0));
    for (const listener of listeners) listener({ type: 'page' }, [page]);
  },
};
window.begin = () => widget.render({ model, el: document.body });
document.body.dataset.state = 'ready';
</script>"""


@needs_page
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_page_in_the_frame_runs_the_scenario_with_the_native_digest(tmp_path):
    sync = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    scenario = ac.load(TEXT).replace(record=None)
    shown = scenario.lab()
    program = base64.b64encode(lab.PROGRAM.read_bytes()).decode()
    host = tmp_path / "host.html"
    host.write_text(HOST.replace("PROGRAM", program).replace("FRAGMENT", shown.fragment))
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.goto(host.as_uri())
        opened.set_default_timeout(0)
        opened.wait_for_selector("body[data-state=ready]", state="attached")
        opened.evaluate(
            "page => { window.page = page }", base64.b64encode(server.read_page()).decode()
        )
        opened.evaluate("() => { window.begin() }")
        frame = opened.frame_locator("iframe").locator("body[data-digest]")
        frame.wait_for()
        digest = frame.get_attribute("data-digest")
        # The page is a stranger to the notebook: it reaches nothing of it.
        inside = opened.frames[1]
        assert (
            inside.evaluate("() => { try { return parent.document.title } catch { return null } }")
            is None
        )
        browser.close()
    assert digest == scenario.run().summary["digest"]
