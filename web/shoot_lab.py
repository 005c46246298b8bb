"""Writes the picture of the lab that the documentation shows: `docs/images/lab.png`.

Needs the page (`make web`), the package playwright (extra `web`) and Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from ackclock.lab import server as lab

PICTURE = Path(__file__).resolve().parents[1] / "docs/images/lab.png"
LESSON, SHOWN_S = "fq-codel-game", 0.6
"""The lesson, and the part of its time that is shown."""


def main() -> None:
    """Open a lesson, answer it, go to a time, take the picture."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None or not lab.PAGE.is_file():
        sys.exit("needs Chromium and the lab's page: apt-get install chromium; make web")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{lab.PAGE.as_uri()}#lesson={LESSON}")
        page.wait_for_selector("body[data-state=ready]")
        page.locator("#answers button").nth(1).click()
        page.evaluate(f"document.getElementById('scrub').value = {1000 * SHOWN_S}")
        page.locator("#scrub").dispatch_event("input")
        page.screenshot(path=PICTURE)
        browser.close()
    sys.stdout.write(f"{PICTURE}\n")


if __name__ == "__main__":
    main()
