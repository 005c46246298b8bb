// The page: one scenario, its run, and a second run beside it.
import { decompress } from 'fzstd';
import { Charts, curvesOf } from './charts.js';
import { Client, Stopped } from './client.js';
import { byId, element } from './dom.js';
import { offer, toCsv, toPng, toSvg } from './download.js';
import { Form } from './form.js';
import { Lessons, parsePath } from './lessons.js';
import { LiveRun } from './live.js';
import { NetworkView } from './network_view.js';
import { bytesOf } from './letters.js';
import * as numbers from './numbers.js';
import { toPcapng } from './pcapng.js';
import { Playback } from './playback.js';
import { StateTable, wordsOf } from './series.js';
import { fromFragment, toFragment } from './share.js';
import { Sheets } from './sheets.js';
import { differences, flowTable, sentences } from './summary.js';
import { turnTheme } from './theme.js';

// What a packet-hop takes in a browser, alone and with its rows recorded (benchmarks/README.md).
const HOP_S = 1e-7;
const RECORDED_HOP_S = 8e-7;
// A run expected to take longer is shown while it is computed: in about so many parts, drawn no more often than this.
const SLOW_S = 0.3;
const PARTS = 60;
const DRAW_INTERVAL_MS = 250;
// Beyond so many packet-hops a run is not recorded packet by packet: its table would fill the memory.
const MOST_HOPS = 1_500_000;
const SAMPLES = 1200;
// What is shown first: packets are under way there, at 0 none.
const FIRST_SHOWN = 0.2;

/** Links of an explanation, as a timeline needs them. */
const wiresOf = ({ links }) => links.map((link) => ({ ...link, propagation_s: link.delay_s }));

class Page {
  async start() {
    const part = (id) => byId(id).textContent.trim();
    // The core, a WebAssembly module; a copy, since what is unpacked begins within its buffer.
    const module = decompress(bytesOf(part('core-module'))).slice();
    this.client = new Client(JSON.parse(part('worker-program')), module.buffer);
    const description = await this.client.start();
    byId('version').textContent = `ackclock ${description.version}`;
    this.playback = new Playback((time, pace) => this.showTime(time, pace));
    this.view = new NetworkView(byId('network'));
    this.charts = new Charts(
      byId('charts'),
      byId('key-chart'),
      (time) => this.playback.seek(time),
      (time) => this.showStates(time),
    );
    this.form = new Form(byId('form'), (path, value) => this.change(path, value));
    this.form.describe(description);
    this.known = description;
    this.lessons = new Lessons(JSON.parse(part('lesson-list')), this);
    this.sheets = new Sheets(JSON.parse(part('sheet-list')), this);
    this.lessons.list(this.sheets.all);
    this.wire();
    await this.openAddress();
    window.addEventListener('hashchange', () => this.openAddress());
    document.body.dataset.state = 'ready';
  }

  /** Opens what the fragment of the address holds: a scenario, a lesson, else the first lesson. */
  async openAddress() {
    const shared = await fromFragment(location.hash);
    // A sheet may have had it below one of its questions.
    byId('ask').after(byId('key-chart'));
    const sheet = this.sheets.find(location.hash);
    byId('sheet').hidden = !sheet;
    if (sheet) {
      byId('lesson').value = location.hash;
      await this.sheets.open(sheet);
    }
    else if (shared) {
      this.ask(null);
      await this.setText(shared);
    }
    else await this.lessons.open(this.lessons.find(location.hash) ?? 0);
  }

  /** Opens a run of a lab sheet: its scenario with its changes, and the chart of the question beside it. */
  async openRun({ id, text, set }, chart = null, flow = null) {
    this.ask(null);
    this.charts.choose(chart, flow);
    document.body.dataset.lesson = 'sheet';
    await this.quietly(async () => {
      await this.giveUp();
      let changed = text;
      for (const [path, value] of Object.entries(set)) {
        const { data } = await this.client.call('readToml', [changed]);
        const places = path.includes('[*]') ? data.flows.map((_, at) => path.replace('[*]', `[${at}]`)) : [path];
        for (const place of places) changed = (await this.client.call('editToml', [changed, parsePath(place), value])).text;
      }
      await this.take(changed);
    });
    this.say(`The run ${id} of this sheet.`);
  }

  /** Keeps back what a run shows until the question of a lesson is answered; of no lesson, shows it. */
  ask(chart) {
    this.charts.choose(chart);
    this.form.forget();
    byId('lesson-box').hidden = chart === null;
    byId('verdict').textContent = '';
    document.body.dataset.lesson = chart === null ? 'none' : 'question';
    this.playback.stop();
    this.view.isStill = chart !== null;
  }

  /** Shows what was kept back. */
  reveal() {
    document.body.dataset.lesson = 'answered';
    this.view.isStill = false;
    this.showTime(this.playback.time, this.playback.pace);
  }

  /** Says that what is shown is not of the scenario that stands there now. */
  markStale(isStale) {
    document.body.toggleAttribute('data-stale', isStale);
  }

  wire() {
    const on = (id, event, listener) => byId(id).addEventListener(event, listener);
    let typing;
    on('toml', 'input', () => {
      clearTimeout(typing);
      typing = setTimeout(() => this.setText(byId('toml').value, { isTyped: true }), 400);
    });
    on('run', 'click', () => this.run());
    on('stop', 'click', () => this.quietly(() => this.client.stop()));
    on('play', 'click', () => {
      this.playback.toggle();
      this.showTime(this.playback.time, this.playback.pace);
    });
    on('scrub', 'input', (event) => this.playback.seek((Number(event.target.value) / 1000) * this.playback.end));
    on('pace', 'change', (event) => {
      this.playback.pace = Number(event.target.value);
    });
    on('keep', 'click', () => this.keep());
    on('forget', 'click', () => this.forget());
    on('theme', 'click', () => {
      turnTheme();
      this.charts.renew();
      if (this.shown) this.showCurves(this.shown);
      this.showTime(this.playback.time, this.playback.pace);
    });
    on('share', 'click', async () => {
      history.replaceState(null, '', await toFragment(this.text));
      await navigator.clipboard?.writeText(location.href).catch(() => {});
      this.say('The address of this page now holds the scenario; it is copied.');
    });
    on('save-toml', 'click', () => offer('scenario.toml', this.text, 'application/toml'));
    on('save-csv', 'click', () => {
      if (!this.result) return;
      const table = byId('csv-table').value;
      offer(`${table}.csv`, toCsv(this.result.tables[table]), 'text/csv');
    });
    on('save-png', 'click', async () => {
      if (!this.shown) return;
      offer('charts.png', await toPng(this.charts.pictures, getComputedStyle(document.body)), 'image/png');
    });
    on('save-svg', 'click', () => {
      if (!this.shown) return;
      const behind = this.reference ? curvesOf(this.reference, 'A: ') : [];
      offer('charts.svg', toSvg(curvesOf(this.shown, this.reference ? 'B: ' : ''), numbers.time, behind), 'image/svg+xml');
    });
    on('save-pcapng', 'click', () => {
      if (!this.result) return;
      try {
        offer('capture.pcapng', toPcapng(this.result), 'application/x-pcapng');
      } catch (error) {
        this.say(`No capture: ${error.message}.`);
      }
    });
    for (const [tab, other] of [['form', 'toml'], ['toml', 'form']]) {
      on(`tab-${tab}`, 'click', () => this.showTab(tab));
      on(`tab-${tab}`, 'keydown', (event) => {
        if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') this.showTab(other).focus();
      });
    }
    document.addEventListener('keydown', (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') this.run();
    });
  }

  showTab(shown) {
    for (const tab of ['form', 'toml']) {
      byId(`tab-${tab}`).setAttribute('aria-selected', String(tab === shown));
      byId(`tab-${tab}`).tabIndex = tab === shown ? 0 : -1;
      byId(`panel-${tab}`).hidden = tab !== shown;
    }
    return byId(`tab-${shown}`);
  }

  /** Takes a new text: reads it, checks it, and runs it if nothing is wrong. A long run that goes on is given up. */
  setText(text, options) {
    return this.quietly(async () => {
      await this.giveUp();
      await this.take(text, options);
    });
  }

  async take(text, { isTyped = false } = {}) {
    this.text = text;
    if (!isTyped) byId('toml').value = text;
    this.markStale(true);
    const { data, problems } = await this.client.call('readToml', [text]);
    if (problems) {
      this.showProblems(problems);
      return;
    }
    this.data = data;
    delete this.data.engine;
    const scenario = this.recorded(true);
    const found = await this.client.call('explain', [scenario]);
    if (text !== this.text) return;
    this.explained = found.problems ? null : found;
    this.showProblems(found.problems ?? []);
    if (found.problems) return;
    this.explained.seconds = found.explained.duration_s;
    await this.run();
  }

  /** Changes one value of the text; its comments stay. */
  change(path, value) {
    return this.changeAll([path], value);
  }

  /** Sets several places of the text to one value, and runs once. */
  changeAll(paths, value) {
    return this.quietly(async () => {
      await this.giveUp();
      let changed = this.text;
      for (const path of paths) {
        const { text, error } = await this.client.call('editToml', [changed, path, value]);
        if (error) {
          this.say(error);
          return;
        }
        changed = text;
      }
      await this.take(changed);
    });
  }

  /** Waits for an action; that a stop ended it is no fault. */
  async quietly(action) {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
  }

  /** Ends a long run for another one; the worker answers nothing before. */
  async giveUp() {
    if (!this.isRunning || !this.isSlow) return;
    this.isGivenUp = true;
    await this.client.stop();
  }

  /** The scenario with what the page records. */
  recorded(everyPacket) {
    const tables = ['flow_samples', 'link_samples', 'states', ...(everyPacket ? ['packets'] : [])];
    const seconds = this.explained?.seconds ?? null;
    const interval = seconds ? Math.max(seconds / SAMPLES, 1e-4) : 0.1;
    return { ...this.data, record: { tables, interval } };
  }

  async run() {
    if (!this.explained || this.isRunning) {
      this.isWaiting = this.isRunning;
      return;
    }
    this.isRunning = true;
    this.isGivenUp = false;
    byId('stop').hidden = false;
    const { predicted, flows, links } = this.explained.explained;
    const everyPacket = predicted.packet_hops <= MOST_HOPS;
    const rows = SAMPLES * (flows.length + links.length) + (everyPacket ? 2 * predicted.packet_hops : 0);
    this.isSlow = predicted.packet_hops * (everyPacket ? RECORDED_HOP_S : HOP_S) > SLOW_S;
    this.drawn = performance.now();
    const live = new LiveRun({ data: this.data, explained: this.explained, links: wiresOf(this.explained.explained), everyPacket });
    try {
      const given = [this.recorded(everyPacket), ...(this.isSlow ? [Math.ceil(rows / PARTS)] : [])];
      const answer = await this.client.call('run', given, {
        onProgress: ({ fraction }) => {
          byId('progress').value = fraction;
        },
        onPart: (tables) => this.showPart(live, tables),
      });
      if (answer.problems) this.showProblems(answer.problems);
      else {
        this.say('');
        this.show(live.whole(answer), live.explained.seconds);
      }
    } catch (error) {
      if (!(error instanceof Stopped)) this.say(`The core failed: ${error.message}`);
      else if (!this.isGivenUp) this.showStopped(live);
    } finally {
      this.isRunning = false;
      byId('stop').hidden = true;
      byId('progress').value = 0;
      if (this.isWaiting) {
        this.isWaiting = false;
        await this.run();
      }
    }
  }

  /** Takes a part of a run that goes on, and shows what is there. */
  showPart(live, tables) {
    const isFirst = live.seconds === 0;
    live.add(tables);
    this.markStale(false);
    if (!this.isSlow || live.seconds === 0) return;
    if (isFirst) {
      this.say('The run is shown while it is computed.');
      this.view.show(live.explained.layout, wiresOf(live.explained.explained), live.timeline);
      this.playback.reset(live.explained.seconds, live.seconds);
    }
    this.playback.extend(live.seconds);
    document.body.dataset.computed = String(live.seconds);
    if (performance.now() - this.drawn < DRAW_INTERVAL_MS) return;
    this.showCurves(live.soFar(), live.explained.seconds);
    this.drawn = performance.now();
  }

  /** Keeps what a run had come to when the reader stopped it. */
  showStopped(live) {
    if (live.seconds === 0) {
      this.say('Stopped.');
      return;
    }
    const [come, all] = [live.seconds, live.explained.seconds].map(numbers.time);
    this.say(`Stopped at ${come} of ${all}: the curves and the packets up to there are kept.`);
    this.show(live.soFar(), live.seconds);
  }

  /** Shows a run of so many seconds. */
  show(result, seconds) {
    this.result = result;
    this.markStale(false);
    const { layout, explained } = result.explained;
    this.view.show(layout, wiresOf(explained), result.timeline);
    this.playback.reset(seconds);
    if (!this.wasShown) this.playback.seek(FIRST_SHOWN * seconds);
    this.wasShown = true;
    // Of a run that was stopped, flows and links have no figures.
    const titles = Object.keys(result.isWhole ? result.tables : result.recorded);
    byId('csv-table').replaceChildren(...titles.map((title) => element('option', {}, title)));
    this.showResult();
  }

  /** Draws the curves of a run; one that goes on reaches `end` in the end. */
  showCurves(result, end) {
    this.shown = result;
    this.states = new StateTable(result.tables.states, wordsOf(result.tables.flows.id).length);
    this.charts.show(result, this.reference, end);
  }

  showResult() {
    const { result, reference } = this;
    const said = result.isWhole ? sentences(result) : [];
    byId('says').replaceChildren(...said.map((sentence) => element('p', {}, sentence)));
    if (!result.everyPacket) {
      byId('says').append(element('p', {}, 'This run has too many packets to draw each: the picture shows the network only.'));
    }
    byId('flows').replaceChildren(...(result.isWhole ? [flowTable(result, reference)] : []));
    this.showCurves(result);
    const differs = this.differs(result.data);
    byId('differs').replaceChildren(
      ...differs.map(({ path, a, b }) =>
        element('li', {}, `${path}: A ${JSON.stringify(a) ?? 'left out'}, B ${JSON.stringify(b) ?? 'left out'}`)));
    byId('compared').hidden = !reference;
    const digest = result.summary?.digest ?? 'of no whole run';
    byId('digest').textContent = digest;
    document.body.dataset.digest = digest;
  }

  /** The states of the first flows at the time below the pointer. */
  showStates(time) {
    if (!this.shown) return;
    const names = wordsOf(this.shown.tables.flows.id).slice(0, 8);
    const said = names.map((name, flow) => `${name}: ${this.states.at(flow, time) || 'not started'}`);
    byId('states').textContent = time === null ? '' : `At ${numbers.time(time)}: ${said.join(', ')}`;
  }

  keep() {
    if (!this.result?.isWhole) return;
    this.reference = this.result;
    this.showResult();
    this.say('Kept as A. Change a value: the new run is B.');
  }

  forget() {
    this.reference = null;
    this.showResult();
    this.form.show(this.data, [], []);
  }

  /** Where a scenario differs from A. */
  differs(data) {
    return this.reference ? differences(this.reference.data, data) : [];
  }

  showTime(time, pace) {
    this.view.draw(time, pace);
    this.charts.mark(time);
    byId('scrub').value = this.playback.end ? (1000 * time) / this.playback.end : 0;
    byId('now').textContent = `${time.toFixed(3)} s`;
    if (!this.playback.playing && this.view.layout) byId('network').setAttribute('aria-label', this.view.describe(time));
    const does = this.playback.playing ? 'Pause' : 'Play';
    if (byId('play').textContent !== does) byId('play').textContent = does;
  }

  showProblems(problems) {
    const line = (from) => (from === undefined ? '' : `line ${this.text.slice(0, from).split('\n').length}: `);
    byId('problems').replaceChildren(
      ...problems.map(({ path, message, from }) =>
        element('li', {}, `${line(from)}${path ? `${path}: ` : ''}${message}`)));
    byId('toml').setAttribute('aria-invalid', String(problems.length > 0));
    if (this.data) this.form.show(this.data, problems, this.differs(this.data));
  }

  say(sentence) {
    byId('status').textContent = sentence;
  }
}

const page = new Page();
// For the browser's console.
window.lab = page;
page.start().catch((error) => {
  byId('status').textContent = `The lab could not start: ${error.message}`;
  document.body.dataset.state = 'failed';
});
