"""Tables of the documentation that are sorted by the head of a column, in Chromium."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

CONTENT_PX = 742
"""Width that the theme leaves to a table at 1280 px."""


def cells(line):
    shown = re.sub(r"\[`(.*?)`\]\(.*?\)", r"\1", line.strip("| \n"))
    return [cell.strip().strip("*") for cell in shown.split("|")]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The table of the dossiers' page with the style and the program of the documentation."""
    text = (ROOT / "docs/reference/dossiers.md").read_text("utf-8")
    lines = text[text.index("| control |") :].split("\n:::")[0].splitlines()
    head, rows = cells(lines[0]), [cells(line) for line in lines[2:]]
    static = ROOT / "docs/static"
    # What the theme says of tables.
    html = "<!doctype html><meta charset=utf-8><style>body { font: 16px sans-serif }"
    html += "table { border-collapse: collapse } td p, th p { margin: 0 }"
    html += (static / "pages.css").read_text("utf-8") + "</style>"
    html += f'<div style="width: {CONTENT_PX}px"><table class="docutils sorted"><thead><tr>'
    html += "".join(f"<th><p>{name}</p></th>" for name in head) + "</tr></thead><tbody>"
    for row in rows:
        html += "<tr>" + "".join(f"<td><p>{cell}</p></td>" for cell in row) + "</tr>"
    html += f"</tbody></table></div><script>{(static / 'sort.js').read_text('utf-8')}</script>"
    file = tmp_path_factory.mktemp("sorted") / "page.html"
    file.write_text(html, "utf-8")
    with playwright.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = started.new_page(viewport={"width": 1280, "height": 900})
        opened.goto(file.as_uri())
        yield opened, rows
        started.close()


def column(opened, number):
    return opened.eval_on_selector_all(
        f"table.sorted tbody td:nth-child({number})", "all => all.map(one => one.textContent)"
    )


def test_a_head_sorts_by_number_and_again_the_other_way_round(page):
    opened, rows = page
    missed = [int(row[1]) for row in rows]
    assert [int(text) for text in column(opened, 2)] == missed
    opened.click("table.sorted th:nth-child(2)")
    assert [int(text) for text in column(opened, 2)] == sorted(missed)
    opened.press("table.sorted th:nth-child(2)", "Enter")
    assert [int(text) for text in column(opened, 2)] == sorted(missed, reverse=True)
    assert opened.get_attribute("table.sorted th:nth-child(2)", "aria-sort") == "descending"
    opened.click("table.sorted th:nth-child(1)")
    names = column(opened, 1)
    assert sorted(names) == sorted(row[0] for row in rows)
    assert opened.get_attribute("table.sorted th:nth-child(2)", "aria-sort") is None


def test_the_table_of_the_dossiers_fits_beside_the_contents_at_1280_px(page):
    opened, rows = page
    width = opened.evaluate("document.querySelector('table.sorted').offsetWidth")
    assert len(rows) > 40
    assert width <= CONTENT_PX
