"""The lab's page in a browser: from disk and from the server, with no request and no error.

Needs the page (`make web`), Playwright's Python package and Chromium.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import ackclock as ac
from ackclock._util import foreign_files
from ackclock.lab import server as lab
from ackclock.scenario.load import load

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from build_web import from_letters  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
EXAMPLES = [file for file in sorted(ROOT.glob("examples/*.toml")) if file.stem != "my_control"]
playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
pytestmark = [
    pytest.mark.skipif(not lab.PAGE.is_file(), reason="needs the lab's page: make web"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page that was opened, and what it did that it should not."""

    def __init__(self, browser, address, *, is_lab=True, answers=True, init="", **options):
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.add_init_script(init)
        self.faults = []
        self.requests = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)
        if is_lab:
            self.page.wait_for_selector("body[data-state=ready]")
            if answers and self.page.is_visible("#answers button"):
                self.page.locator("#answers button").first.click()

    def _hear(self, line):
        if line.type in ("error", "warning"):
            self.faults.append(line.text)

    def digest(self):
        return self.page.get_attribute("body", "data-digest")

    def until_another(self, digest):
        self.page.wait_for_function("old => document.body.dataset.digest !== old", arg=digest)
        return self.digest()

    def close(self):
        self.context.close()
        assert self.faults == []
        outside = [url for url in self.requests[1:] if not url.startswith("blob:")]
        assert outside == []


@pytest.fixture
def opened(browser):
    pages = []

    def open_page(address=None, **options):
        pages.append(Opened(browser, address or lab.PAGE.as_uri(), **options))
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()


def native_text(toml):
    return load(toml).run().summary["digest"]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_a_scenario_gives_the_digest_of_the_native_core(opened, file):
    scenario = load(file)
    here = opened(lab.PAGE.as_uri() + lab.fragment_of(scenario.resolve_files().to_toml()))
    assert here.digest() == scenario.run().summary["digest"]


def test_the_server_shows_the_same_page(opened):
    with lab.LabServer(lab.read_page()) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            from_server = opened(server.url).digest()
        finally:
            server.shutdown()
            thread.join()
    assert from_server == opened().digest()


def test_a_slider_changes_the_scenario_and_the_charts(opened):
    here = opened()
    before, shown = here.digest(), here.page.inner_text("#flows")
    here.page.locator("#slider-input").press("ArrowLeft")
    after = here.until_another(before)
    toml = here.page.input_value("#toml")
    assert 'buffer = "0.5 bdp"' in toml
    assert toml.startswith("# One Reno flow over a drop-tail queue.")
    assert after == native_text(toml)
    assert here.page.inner_text("#flows") != shown


def test_results_are_kept_back_until_the_question_is_answered(opened):
    page = opened(answers=False, viewport={"width": 1280, "height": 800}).page
    for place in ("#flows", "#charts", "#key-chart", "#says", "#explains", "#slider", "#play"):
        assert not page.is_visible(place), place
    assert page.evaluate("lab.view.isStill")
    page.locator("#answers button").first.click()
    for place in ("#flows", "#charts", "#key-chart", "#says", "#explains", "#slider", "#play"):
        assert page.is_visible(place), place
    assert not page.evaluate("lab.view.isStill")
    page.select_option("#lesson", index=3)
    assert not page.is_visible("#flows")


def test_every_lesson_marks_the_right_answer_beside_its_chart_above_the_fold(opened):
    page = opened(viewport={"width": 1280, "height": 800}).page
    lessons = json.loads(page.locator("#lesson-list").text_content())
    for lesson in lessons:
        page.evaluate("name => { location.hash = `#lesson=${name}` }", lesson["name"])
        page.wait_for_function(
            "question => document.querySelector('#question').textContent === question",
            arg=lesson["question"],
        )
        page.wait_for_selector("body[data-lesson=question]:not([data-stale])")
        wrong = (lesson["right"] + 1) % len(lesson["answers"])
        page.locator("#answers button").nth(wrong).click()
        marks = [b.get_attribute("data-verdict") for b in page.locator("#answers button").all()]
        assert marks[lesson["right"]] == "right"
        assert marks[wrong] == "wrong"
        assert page.inner_text("#explains") == lesson["explains"]
        # A chart that is drawn anew has no place for a moment.
        box = page.wait_for_function(
            "() => { const all = document.querySelectorAll('#key-chart figure');"
            " const place = all[0]?.getBoundingClientRect();"
            " return all.length === 1 && place.height ? place.toJSON() : null; }"
        ).json_value()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800, lesson["name"]
        assert box["width"] > 300


def test_a_rate_without_unit_is_refused_as_on_the_command_line(opened):
    here = opened()
    page, before = here.page, here.digest()
    field = page.locator('[data-path=\'["net","rate"]\']')
    field.fill("10")
    field.press("Tab")
    page.wait_for_selector("#problems li")
    said = page.inner_text("#problems li")
    message = '10 has no unit; expected a rate with unit, such as "10 Mbps"'
    assert said == f"net.rate: {message}"
    with pytest.raises(ac.errors.ScenarioError, match=re.escape(message)):
        load(page.input_value("#toml"))
    assert here.digest() == before
    assert page.is_visible("#stale-note")
    field.fill("20 Mbps")
    field.press("Tab")
    here.until_another(before)
    assert not page.is_visible("#stale-note")


def test_an_emptied_field_stays_where_it_was(opened):
    page = opened().page
    field = page.locator('[data-path=\'["net","rtt"]\']')
    field.fill("")
    field.press("Tab")
    page.wait_for_function("() => !document.querySelector('#toml').value.includes('rtt')")
    field = page.locator('[data-path=\'["net","rtt"]\']')
    assert field.is_visible()
    assert field.input_value() == ""


def test_the_numbers_of_a_are_beside_those_of_b(opened):
    here = opened()
    page, before = here.page, here.digest()
    rate = page.locator("#flows tbody td").nth(1).inner_text()
    page.click("#keep")
    page.locator("#slider-input").press("ArrowLeft")
    here.until_another(before)
    assert page.locator("#flows tbody td").nth(1).locator(".was").inner_text() == f"A {rate}"


def test_the_theme_turns(opened):
    page = opened(color_scheme="light").page
    back = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(back)
    page.click("#theme")
    assert page.evaluate(back) != light
    page.click("#theme")
    assert page.evaluate(back) == light


def test_a_lab_sheet_is_done_in_the_browser_and_graded_on_the_command_line(opened, tmp_path):
    from ackclock.course import find_sheet

    sheet = find_sheet("fairness")
    here = opened(lab.PAGE.as_uri() + "#sheet=fairness")
    page = here.page
    assert "Towards the origin" in page.inner_text("#sheet")
    assert page.is_visible("#flows")
    first = here.digest()
    page.locator('[data-run="bias-red"]').click()
    digest = here.until_another(first)
    native = load(sheet.folder / "round-trips.toml").replace(**sheet.runs["bias-red"].set)
    assert digest == native.run().summary["digest"]
    page.locator('[data-run="aiad"]').first.click()
    here.until_another(digest)
    native = load(sheet.folder / "converge.toml").replace(**{"flows[*].cc": "aiad"}).run()
    assert here.digest() == native.summary["digest"]
    assert sheet.key["why"].explanation not in page.content()
    answer_and_grade(page, sheet, tmp_path)


def answer_and_grade(page, sheet, folder):
    """Answer every question by the key, save the answers, and get all points but a person's."""
    from ackclock.course import grade

    for question in sheet.questions:
        expected = sheet.key[question.id]
        if question.kind == "choice":
            letter = "abc"[expected.choice]
            page.check(f'input[name="answer-{question.id}"][value="{letter}"]')
        else:
            text = f"{expected.number:.4g}" if question.unit else "Both moves."
            page.fill(f"#answer-{question.id}", text)
    with page.expect_download() as waiting:
        page.click("#save-answers")
    (folder / "ann").mkdir()
    waiting.value.save_as(folder / "ann/answers.toml")
    graded = grade(sheet, folder)
    assert graded.graded[0].points == graded.by_machine


def test_each_question_of_a_sheet_opens_its_runs_with_its_one_chart_below_it(opened, tmp_path):
    from ackclock.course import find_sheet

    sheet = find_sheet("bufferbloat")
    here = opened(lab.PAGE.as_uri() + "#sheet=bufferbloat", viewport={"width": 1280, "height": 800})
    page = here.page
    titles = {"completions": "Transfers", "rtt": "Smoothed RTT", "queue-delay": "Queue"}
    titles |= {"cwnd": "Congestion window", "throughput": "Rate of delivery"}
    for question, item in zip(sheet.questions, page.locator("#sheet li").all(), strict=True):
        for run in question.runs:
            item.locator(f'[data-run="{run}"]').click()
            page.wait_for_selector("body:not([data-stale])")
            page.wait_for_function(
                "run => document.querySelector('#status').innerText.includes(run)", arg=f" {run} "
            )
            charts = item.locator("figure")
            charts.first.wait_for()
            assert charts.count() == 1
            assert charts.inner_text().startswith(titles[question.figure["kind"]])
            names = charts.locator(".u-legend .u-label").all_inner_texts()[1:]
            if "flow" in question.figure:
                capacity = ["capacity"] if question.figure["kind"] == "throughput" else []
                assert [name.rstrip(":") for name in names] == [question.figure["flow"], *capacity]
            # The chart is in sight, without scrolling.
            box, frame = charts.bounding_box(), page.locator("#sheet").bounding_box()
            assert box["y"] >= frame["y"] - 1
            assert box["y"] + box["height"] <= frame["y"] + frame["height"] + 1
        if question.id in ("ping-100", "mend"):
            median = page.locator("#flows tbody tr").nth(1).locator("td").nth(3).inner_text()
            low, high = sheet.key[question.id].range
            assert low <= float(median.removesuffix(" ms")) <= high
        if question.id == "page-100":
            said = re.search(
                r"transfers ended, after ([\d.]+) s on average", page.inner_text("#says")
            )
            low, high = sheet.key[question.id].range
            assert low <= float(said[1]) <= high
    answer_and_grade(page, sheet, tmp_path)
    page.evaluate("location.hash = '#lesson=sawtooth'")
    page.wait_for_selector("#lesson-box:visible")
    page.locator("#answers button").first.click()
    assert page.locator("#lesson-box #key-chart figure").count() == 1


def test_form_and_toml_keep_in_step(opened):
    here = opened()
    page, before = here.page, here.digest()
    page.locator('[data-path=\'["net","rate"]\']').fill("5 Mbps")
    page.locator('[data-path=\'["net","rate"]\']').press("Tab")
    changed = here.until_another(before)
    page.click("#tab-toml")
    assert 'rate = "5 Mbps"' in page.input_value("#toml")
    page.fill("#toml", page.input_value("#toml").replace('"5 Mbps"', '"10 Mbps"'))
    assert here.until_another(changed) == before


def test_tabs_are_changed_by_the_keyboard(opened):
    page = opened().page
    page.locator("#tab-form").press("ArrowRight")
    assert page.is_visible("#toml")
    assert page.evaluate("document.activeElement.id") == "tab-toml"
    page.keyboard.press("ArrowLeft")
    assert page.is_visible("#form")


def test_a_screen_reader_gets_the_picture_and_the_prediction(opened):
    page = opened().page
    label = page.get_attribute("#network", "aria-label")
    assert re.search(r"packets under way: \d+; \d+ wait at r0->r1, the longest queue\.$", label)
    page.locator("#scrub").press("Home")
    assert page.get_attribute("#network", "aria-label").startswith("The network at 0 s: ")
    page.locator("#answers button").first.press("Enter")
    assert page.locator("[role=status] #explains").is_visible()


def test_a_fault_is_shown_at_its_place_and_the_last_result_stays(opened):
    here = opened()
    page, before = here.page, here.digest()
    page.click("#tab-toml")
    page.fill("#toml", page.input_value("#toml").replace('cc = "reno"', 'cc = "cubc"'))
    page.wait_for_selector("#problems li")
    assert "flows[0].cc" in page.inner_text("#problems")
    assert "cubic" in page.inner_text("#problems")
    page.fill("#toml", "a = = 1")
    page.wait_for_function("() => document.querySelector('#problems').innerText.includes('line 1')")
    assert here.digest() == before


def test_two_runs_are_compared(opened):
    here = opened()
    before = here.digest()
    here.page.click("#keep")
    here.page.locator("#slider-input").press("ArrowLeft")
    here.until_another(before)
    assert here.page.inner_text("#form .differs") == "A: 1 bdp"
    differs = here.page.inner_text("#differs")
    assert differs == 'net.buffer: A "1 bdp", B "0.5 bdp"'


def test_hostile_names_stay_text(opened):
    name = "<img src=x onerror=alert(1)></script>"
    flow = ac.Flow(id=name, pair=0, cc="aimd")
    net = ac.topology.Dumbbell(pairs=1, rate="1 Mbps", rtt="20 ms")
    scenario = ac.Scenario(net=net, flows=[flow], duration="2 s", name=name)
    here = opened(lab.PAGE.as_uri() + lab.fragment_of(scenario.to_toml()))
    assert name in here.page.inner_text("#flows")
    assert here.page.locator("#flows img, #form img").count() == 0


def test_playing_moves_the_time(opened):
    here = opened()
    assert float(here.page.inner_text("#now").removesuffix(" s")) > 0
    here.page.locator("#scrub").press("Home")
    here.page.select_option("#pace", "10")
    here.page.click("#play")
    here.page.wait_for_function("() => parseFloat(document.querySelector('#now').innerText) > 1")
    here.page.click("#play")
    assert here.page.inner_text("#play") == "Play"


WATCH = """
window.reached = [];
new MutationObserver(() => {
  const { computed } = document.body?.dataset ?? {};
  if (computed !== undefined && computed !== window.reached.at(-1)) window.reached.push(computed);
}).observe(document, { subtree: true, attributes: true });
"""
"""Notes how far the run had been computed each time the page learned of it."""


def long_run(seconds, rate="100 Mbps", qdisc="fifo"):
    net = ac.topology.Dumbbell(pairs=1, rate=rate, rtt="40 ms", buffer="1 bdp", qdisc=qdisc)
    flow = ac.Flow(id="one", pair=0, cc="cubic")
    return ac.Scenario(net=net, flows=[flow], duration=f"{seconds} s")


def curve(page):
    """Times of the first chart: of its last point, and of the end of its axis."""
    found = page.evaluate(
        "() => { const plot = lab.charts.plots[0];"
        " return [plot.data[0].at(-1), plot.scales.x.max]; }"
    )
    return tuple(found)


@pytest.mark.parametrize(("seconds", "drawn"), [(20, True), (120, False)])
def test_a_long_run_comes_in_parts_and_has_the_digest_of_the_native_core(opened, seconds, drawn):
    scenario = long_run(seconds)
    here = opened(lab.PAGE.as_uri() + lab.fragment_of(scenario.to_toml()), init=WATCH, is_lab=False)
    here.page.wait_for_function("() => Number(document.body.dataset.computed) > 0")
    here.page.wait_for_selector("body[data-state=ready]")
    reached = [float(time) for time in here.page.evaluate("window.reached")]
    assert len(reached) > 20
    assert reached == sorted(reached)
    assert reached[-1] <= seconds
    assert reached[0] < 0.2 * seconds
    assert here.page.inner_text("#status") == ""
    assert here.digest() == scenario.run().summary["digest"]
    assert ("too many packets to draw" in here.page.inner_text("#says")) is not drawn


def test_a_stopped_run_keeps_what_there_is(opened):
    # Much longer than anyone waits: only the stop ends it.
    scenario = long_run(36_000)
    here = opened(lab.PAGE.as_uri() + lab.fragment_of(scenario.to_toml()), is_lab=False)
    page = here.page
    page.wait_for_function("() => Number(document.body.dataset.computed) > 0")
    page.wait_for_selector(".chart")
    last, end = curve(page)
    assert 0 < last < end == 36_000
    page.click("#stop")
    page.wait_for_selector("body[data-state=ready]")
    assert page.inner_text("#status").startswith("Stopped at ")
    reached = float(page.get_attribute("body", "data-computed"))
    assert curve(page) == (pytest.approx(reached, abs=60), pytest.approx(reached, abs=60))
    page.locator("#scrub").press("End")
    assert page.inner_text("#now") == f"{reached:.3f} s"
    assert page.locator("#csv-table option").all_inner_texts() == [
        "flow_samples",
        "link_samples",
        "states",
    ]
    with page.expect_download() as waiting:
        page.click("#save-csv")
    rows = Path(waiting.value.path()).read_text().splitlines()
    # Samples are 30 s apart.
    assert reached - 30 <= float(rows[-1].split(",")[0]) <= reached
    page.click("#save-pcapng")
    assert "the run was stopped" in page.inner_text("#status")
    page.locator("[data-path='[\"duration\"]']").fill("2 s")
    page.locator("[data-path='[\"duration\"]']").press("Tab")
    digest = here.until_another("of no whole run")
    assert digest == scenario.replace(duration="2 s").run().summary["digest"]


def test_a_change_during_a_long_run_takes_its_place(opened):
    scenario = long_run(36_000)
    here = opened(lab.PAGE.as_uri() + lab.fragment_of(scenario.to_toml()), is_lab=False)
    here.page.wait_for_function("() => Number(document.body.dataset.computed) > 0")
    here.page.locator("[data-path='[\"duration\"]']").fill("2 s")
    here.page.locator("[data-path='[\"duration\"]']").press("Tab")
    here.page.wait_for_selector("body[data-digest]")
    digest = here.digest()
    assert digest == scenario.replace(duration="2 s").run().summary["digest"]
    assert here.page.inner_text("#status") == ""
    assert here.page.is_hidden("#stop")


STOP = """
new MutationObserver((_, self) => {
  if (!(Number(document.body?.dataset.computed) > 0)) return;
  self.disconnect();
  document.getElementById('stop').click();
}).observe(document, { subtree: true, attributes: true });
"""
"""Stops the run in the moment in which its first part is shown."""


def test_the_packets_of_a_stopped_run_are_replayed(opened):
    address = lab.PAGE.as_uri() + lab.fragment_of(long_run(20).to_toml())
    here = opened(address, init=STOP)
    page = here.page
    assert page.inner_text("#status").startswith("Stopped at ")
    reached = float(page.get_attribute("body", "data-computed"))
    assert 0 < reached < 20
    page.locator("#scrub").press("End")
    assert page.inner_text("#now") == f"{reached:.3f} s"
    on_wires = "lab.view.timeline.links.map((_, link) => lab.view.timeline.onWire(link, %r).length)"
    assert sum(page.evaluate(on_wires % reached)) > 10
    assert "packets" in page.locator("#csv-table option").all_inner_texts()
    assert page.evaluate("lab.shown.sequence.sent[0].at(-1)") <= reached


def test_links_with_names_of_their_own_are_drawn(opened):
    text = (
        'duration = "2 s"\n[net]\nkind = "graph"\n'
        '[[net.links]]\na = "a"\nb = "b"\nid = "out"\nrate = "1 Mbps"\ndelay = "50 ms"\n'
        '[[flows]]\nid = "one"\nsrc = "a"\ndst = "b"\ncc = "aimd"\n'
    )
    here = opened(lab.PAGE.as_uri() + lab.fragment_of(text))
    assert here.page.evaluate("lab.view.links.every(link => link.from && link.to)")


@pytest.mark.parametrize("name", ["collapse", "fq-codel-game", "bbr-cubic"])
def test_a_lesson_has_an_address_and_runs_as_the_native_core_does(opened, name):
    here = opened(lab.PAGE.as_uri() + f"#lesson={name}")
    file = ROOT / f"web/lessons/{name}.toml"
    assert here.page.input_value("#toml") == file.read_text()
    assert here.page.inner_text("#question").endswith("?")
    assert here.page.locator("#answers button").count() > 1
    first = here.digest()
    assert first == load(file).run().summary["digest"]
    here.page.evaluate("location.hash = '#lesson=slow-start'")
    other = load(ROOT / "web/lessons/slow-start.toml").run().summary["digest"]
    assert here.until_another(first) == other


@pytest.mark.parametrize("name", ["parking-lot", "red-ecn", "dumbbell-aimd-vegas"])
def test_the_capture_is_that_of_the_package(opened, tmp_path, name):
    scenario = load(ROOT / f"examples/{name}.toml").replace(duration="3 s", warmup="0 s")
    here = opened(lab.PAGE.as_uri() + lab.fragment_of(scenario.resolve_files().to_toml()))
    with here.page.expect_download() as waiting:
        here.page.click("#save-pcapng")
    assert waiting.value.suggested_filename == "capture.pcapng"
    found = blocks(Path(waiting.value.path()).read_bytes())
    run = scenario.replace(record={"tables": ["packets"]}).run()
    expected = blocks(run.to_pcapng(tmp_path / "capture.pcapng").read_bytes())
    # The first block names the run: the page knows its digest, the package its scenario's hash.
    assert f"digest {here.digest()}".encode() in found[0]
    assert len(found) > 1000
    assert found[1:] == expected[1:]


def blocks(capture):
    found = []
    while capture:
        size = int.from_bytes(capture[4:8], "little")
        found.append(capture[:size])
        capture = capture[size:]
    return found


def test_a_capture_with_timestamps_is_left_to_the_package(opened):
    scenario = load(ROOT / "examples/parking-lot.toml").replace(duration="2 s", warmup="0 s")
    made = scenario.replace(tcp={"timestamps": True})
    here = opened(lab.PAGE.as_uri() + lab.fragment_of(made.resolve_files().to_toml()))
    here.page.click("#save-pcapng")
    assert "ackclock run --pcapng" in here.page.inner_text("#status")


def test_a_live_figure_of_built_pages_runs_from_disk(opened, tmp_path):
    build = pytest.importorskip("sphinx.cmd.build", reason="needs the extra docs")
    (tmp_path / "docs/deep").mkdir(parents=True)
    (tmp_path / "docs/conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'docs')!r})\n"
        "project = 'x'\nextensions = ['myst_parser', 'live_figures']\n"
    )
    live = f"```{{live}} {ROOT / 'web/lessons/collapse.toml'}\nA question?\n```\n"
    (tmp_path / "docs/index.md").write_text(f"# Index\n\n{live}\n```{{toctree}}\ndeep/page\n```\n")
    (tmp_path / "docs/deep/page.md").write_text(f"# Page\n\n{live}")
    out = tmp_path / "html"
    assert build.main(["-q", "-W", "-b", "html", str(tmp_path / "docs"), str(out)]) == 0
    here = opened((out / "index.html").as_uri(), is_lab=False)
    for page in ("index.html", "deep/page.html"):
        here.page.goto((out / page).as_uri())
        here.page.click("details.live summary")
        frame = here.page.frame_locator("details.live iframe")
        frame.locator("body[data-state=ready]").wait_for()
        assert frame.locator("#question").inner_text().startswith("Two sources")
    here.requests.clear()


def test_charts_and_tables_are_saved(opened):
    here = opened()
    saved = {}
    for button in ("#save-svg", "#save-png", "#save-toml", "#save-csv"):
        with here.page.expect_download() as waiting:
            here.page.click(button)
        saved[waiting.value.suggested_filename] = Path(waiting.value.path()).read_bytes()
    assert saved["charts.svg"].startswith(b"<svg")
    assert saved["charts.png"].startswith(b"\x89PNG")
    assert saved["flows.csv"].startswith(b"id,src,dst,cc")
    assert native_text(saved["scenario.toml"].decode()) == here.digest()


def test_the_pointer_shows_the_state_of_each_flow(opened):
    here = opened()
    here.page.locator(".chart .u-over").first.hover(position={"x": 200, "y": 20})
    here.page.wait_for_function(
        "() => /reno: (avoidance|recovery)/.test(document.querySelector('#states').innerText)"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1300, 390])
def test_no_fault_of_accessibility(opened, width, theme):
    axe = ROOT / "web/node_modules/axe-core/axe.min.js"
    if not axe.is_file():
        pytest.skip("needs axe-core: make web")
    here = opened(bypass_csp=True, viewport={"width": width, "height": 900}, color_scheme=theme)
    here.page.add_script_tag(path=str(axe))
    found = here.page.evaluate("axe.run().then(found => found.violations)")
    faults = [(fault["id"], [node["html"][:120] for node in fault["nodes"]]) for fault in found]
    assert faults == []
    overflows = here.page.evaluate("document.documentElement.scrollWidth > innerWidth + 1")
    assert not overflows


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_the_module_and_the_native_core_agree_bit_for_bit(tmp_path):
    scenarios = [load(file) for file in EXAMPLES]
    catalogue = json.loads(ac._core.catalogue())
    net = ac.topology.Dumbbell(pairs=2, rate="8 Mbps", rtt="30 ms", buffer="20 pkt", qdisc="red")
    pairs = [(net, entry["name"]) for entry in catalogue["cc"]]
    pairs += [(net.replace(qdisc=entry["name"]), "aimd") for entry in catalogue["qdisc"]]
    for network, control in pairs:
        flows = [ac.Flow(pair=0, cc=control), ac.Flow(pair=1, cc="cubic", start="200 ms")]
        scenario = ac.Scenario(net=network, flows=flows, duration="4 s")
        if not json.loads(ac._core.check(scenario.core_json())):
            scenarios.append(scenario)
    packed = re.search(r'id="core-module">([^<]+)<', lab.PAGE.read_text("utf-8")).group(1)
    (tmp_path / "core.wasm").write_bytes(foreign_files.unpack(from_letters(packed), lab.PAGE))
    texts = [json.loads(scenario.core_json()) for scenario in scenarios]
    (tmp_path / "scenarios.json").write_text(json.dumps(texts))
    command = ["node", str(ROOT / "web/test/digests.js")]
    command += [str(tmp_path / "core.wasm"), str(tmp_path / "scenarios.json")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    expected = [scenario.run().summary["digest"] for scenario in scenarios]
    assert printed[:-1] == expected
    assert len(expected) >= 60
