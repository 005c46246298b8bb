"""What the lab costs in a browser: WebAssembly beside the native core, the page's start, frames.

``python benchmarks/lab.py`` prints a table. Needs the page (``make web``), the package playwright
(extra ``web``) and Chromium. All is measured in headless Chromium, without a GPU, from disk.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

import ackclock as ac
from ackclock.lab import server as lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

SAMPLES = 1200
"""Samples of a run, as the page takes them."""
TABLES = ["flow_samples", "link_samples", "states", "packets"]

_READY = """
window.started = performance.timeOrigin;
new MutationObserver(() => {
  if (document.body?.dataset.state === 'ready') window.readyAt ??= performance.now();
}).observe(document, { subtree: true, attributes: true, childList: true });
"""

_WORKER = """async ({ scenario, turns }) => {
  const text = (id) => document.getElementById(id).textContent.trim();
  const module = (await lab.core()).buffer;
  const source = new Blob([JSON.parse(text('worker-program'))], { type: 'text/javascript' });
  const worker = new Worker(URL.createObjectURL(source));
  const call = (name, given) => new Promise((resolve) => {
    worker.onmessage = ({ data }) => {
      if ('answer' in data || data.error) resolve(data);
    };
    worker.postMessage({ id: 1, call: name, given });
  });
  await call('load', [module]);
  const seconds = [];
  let digest;
  for (let turn = 0; turn < turns; turn++) {
    const begin = performance.now();
    const { answer, error } = await call('run', [scenario]);
    seconds.push((performance.now() - begin) / 1000);
    digest = answer?.summary?.digest ?? error ?? JSON.stringify(answer);
  }
  worker.terminate();
  return { seconds, digest };
}"""

_FRAMES = """async (seconds) => {
  const pen = CanvasRenderingContext2D.prototype;
  const fill = pen.fillRect;
  let drawn = 0;
  pen.fillRect = function (...given) { drawn += 1; return fill.apply(this, given); };
  const native = window.requestAnimationFrame;
  // By the time of the frame, which several callbacks share.
  const seen = new Map();
  window.requestAnimationFrame = (callback) => native((now) => {
    const begin = performance.now();
    drawn = 0;
    callback(now);
    const { work = 0, shown = 0 } = seen.get(now) ?? {};
    seen.set(now, { work: work + performance.now() - begin, shown: shown + drawn });
  });
  document.getElementById('play').click();
  const begin = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  const took = (performance.now() - begin) / 1000;
  const all = [...seen.values()];
  document.getElementById('play').click();
  pen.fillRect = fill;
  window.requestAnimationFrame = native;
  const [work, shown] = ['work', 'shown'].map((key) => all.map((one) => one[key]));
  return { frames: all.length, took, work, shown };
}"""


def dumbbell(mbps: int, qdisc: str) -> ac.Scenario:
    """Sixty seconds of ten flows over one bottleneck; with 10 Mbit/s the goal's scenario."""
    rate = f"{mbps} Mbps"
    net = ac.topology.Dumbbell(pairs=10, rate=rate, rtt="40 ms", buffer="1 bdp", qdisc=qdisc)
    flows = [ac.Flow(id=f"f{i}", pair=i, cc="cubic", start=f"{i} s") for i in range(10)]
    return ac.Scenario(net=net, flows=flows, duration="60 s")


def crowded() -> ac.Scenario:
    """A chain of long links with hundreds of packets on each."""
    net = ac.topology.ParkingLot(hops=3, rate="20 Mbps", delay="60 ms", buffer="1 bdp")
    flows = [ac.Flow(id=f"f{i}", pair=i, cc="cubic") for i in range(4)]
    return ac.Scenario(net=net, flows=flows, duration="20 s")


def as_data(scenario: ac.Scenario, *, recorded: bool) -> dict[str, Any]:
    """A scenario as the module gets it, with what the page records or with nothing."""
    data: dict[str, Any] = json.loads(scenario.core_json())
    seconds = float(scenario.explain().data["duration_s"])
    kept = {"tables": TABLES, "interval": seconds / SAMPLES} if recorded else {"tables": []}
    return {**data, "record": kept}


def native(data: dict[str, Any], turns: int) -> tuple[list[float], str]:
    """Seconds of each run in the native core, tables included, and the digest."""
    seconds, digest = [], ""
    scenario = ac.Scenario.from_data(data)
    for _ in range(turns):
        begin = time.perf_counter()
        digest = scenario.run().summary["digest"]
        seconds.append(time.perf_counter() - begin)
    return seconds, digest


def ready_s(browser: Browser, turns: int) -> list[float]:
    """Seconds from the page's opening until its first lesson has run."""
    found = []
    for _ in range(turns):
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(_READY)
        page.goto(lab.PAGE.as_uri())
        page.wait_for_selector("body[data-state=ready]")
        found.append(page.evaluate("window.readyAt") / 1000)
        context.close()
    return found


def cpu_ms(browser: CDPSession) -> dict[str, float]:
    """Milliseconds of CPU time that each kind of Chromium's processes has taken."""
    taken: dict[str, float] = {}
    for process in browser.send("SystemInfo.getProcessInfo")["processInfo"]:
        kind = process["type"].lower()
        taken[kind] = taken.get(kind, 0.0) + 1000 * process["cpuTime"]
    return taken


def thread_ms(page: CDPSession) -> dict[str, float]:
    """Milliseconds of the page's main thread so far: all of it, program, layout and styles."""
    names = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
    found = {one["name"]: one["value"] for one in page.send("Performance.getMetrics")["metrics"]}
    return {name: 1000 * found[name] for name in names}


def frames(page: Page, browser: CDPSession, seconds: float) -> dict[str, float]:
    """Frames a second while the page plays, what it draws, and the work of a frame.

    CPU time is that of Chromium's processes and of the page's main thread: other programs on the
    machine hardly change it, as they do frames a second.
    """
    page.goto(lab.PAGE.as_uri() + lab.fragment_of(crowded().resolve_files().to_toml()))
    page.wait_for_selector("body[data-state=ready]")
    page.evaluate("document.getElementById('scrub').value = 700")
    page.locator("#scrub").dispatch_event("input")
    page.select_option("#pace", "0.1")
    metrics = page.context.new_cdp_session(page)
    # Time that the thread runs, not that of the wall.
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
    before, thread = cpu_ms(browser), thread_ms(metrics)
    seen = page.evaluate(_FRAMES, seconds)
    after, thread_after = cpu_ms(browser), thread_ms(metrics)
    work = sorted(seen["work"])
    frame = {kind: (after[kind] - before.get(kind, 0.0)) / seen["frames"] for kind in after}
    parts = {name: (thread_after[name] - thread[name]) / seen["frames"] for name in thread}
    return {
        "frames": seen["frames"],
        "frames_per_s": seen["frames"] / seen["took"],
        "drawn_median": statistics.median(seen["shown"]),
        "work_ms_median": statistics.median(work),
        "work_ms_p95": work[int(0.95 * (len(work) - 1))],
        **{f"main thread, {name}, CPU ms a frame": value for name, value in parts.items()},
        **{f"process {kind}, CPU ms a frame": value for kind, value in frame.items()},
    }


def said(name: str, seconds: list[float], more: str = "") -> None:
    """Print the times of something."""
    least, middle = min(seconds), statistics.median(seconds)
    print(f"{name:44} least {least:.3f} s, median {middle:.3f} s{more}", flush=True)


def measure_runs(browser: Browser, turns: int) -> None:
    """Print when the page is ready, and runs in its worker beside those of the native core."""
    said("page ready, from disk", ready_s(browser, turns))
    page = browser.new_page()
    page.goto(lab.PAGE.as_uri())
    page.wait_for_selector("body[data-state=ready]")
    cases = [(mbps, q) for mbps in (10, 100) for q in ("fifo", "red", "fq-codel")]
    for mbps, qdisc in cases:
        for recorded in (False, True)[: 2 if mbps == 10 else 1]:
            data = as_data(dumbbell(mbps, qdisc), recorded=recorded)
            name = f"{mbps} Mbit/s, {qdisc}{', recorded' if recorded else ''}"
            own, digest = native(data, turns)
            seen = page.evaluate(_WORKER, {"scenario": data, "turns": turns})
            if seen["digest"] != digest:
                sys.exit(f"{name}: digest {seen['digest']}, native {digest}")
            said(f"{name}, native", own)
            ratio = min(seen["seconds"]) / min(own)
            said(f"{name}, WebAssembly", seen["seconds"], f"; {ratio:.2f} times native")


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--turns", type=int, default=9, help="Runs of each kind.")
    arguments.add_argument("--seconds", type=float, default=5.0, help="Of play.")
    arguments.add_argument("--frames", action="store_true", help="Measure frames alone.")
    given = arguments.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None or not lab.PAGE.is_file():
        sys.exit("needs Chromium and the lab's page: apt-get install chromium; make web")

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        print(f"Chromium {browser.version}, {given.turns} turns")
        if not given.frames:
            measure_runs(browser, given.turns)
        session = browser.new_browser_cdp_session()
        for key, value in frames(browser.new_page(), session, given.seconds).items():
            print(f"{key:44} {value:.2f}")
        browser.close()


if __name__ == "__main__":
    main()
