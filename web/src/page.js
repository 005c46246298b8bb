// The page: one scenario, its run, and a second run beside it.
import { Charts, curvesOf } from './charts.js';
import { Client, Stopped } from './client.js';
import { byId, element } from './dom.js';
import { offer, toCsv, toPng, toSvg } from './download.js';
import { Form } from './form.js';
import { Lessons } from './lessons.js';
import { NetworkView } from './network_view.js';
import * as numbers from './numbers.js';
import { toPcapng } from './pcapng.js';
import { Playback } from './playback.js';
import { StateTable, wordsOf } from './series.js';
import { fromFragment, through, toFragment } from './share.js';
import { differences, flowTable, sentences } from './summary.js';
import { Timeline } from './timeline.js';

// A run predicted to take longer shows its first part first.
const SLOW_S = 0.5;
const FIRST_PART = 0.05;
// Beyond so many packet-hops a run is not recorded packet by packet: its table would fill the memory.
const MOST_HOPS = 1_500_000;
const SAMPLES = 1200;

/** The bytes that letters stand for: a loop, which takes a tenth of the time of `Uint8Array.from`. */
function bytesOf(letters) {
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

/** Links of an explanation, as a timeline needs them. */
const wiresOf = ({ links }) => links.map((link) => ({ ...link, propagation_s: link.delay_s }));

class Page {
  async start() {
    const part = (id) => byId(id).textContent.trim();
    const packed = bytesOf(atob(part('core-module')));
    const module = await through(packed, new DecompressionStream('gzip'));
    this.client = new Client(JSON.parse(part('worker-program')), module.buffer);
    const description = await this.client.start();
    byId('version').textContent = `ackclock ${description.version}`;
    this.playback = new Playback((time, pace) => this.showTime(time, pace));
    this.view = new NetworkView(byId('network'));
    this.charts = new Charts(
      byId('charts'),
      (time) => this.playback.seek(time),
      (time) => this.showStates(time),
    );
    this.form = new Form(byId('form'), (path, value) => this.change(path, value));
    this.form.describe(description);
    this.lessons = new Lessons(JSON.parse(part('lesson-list')), this);
    this.wire();
    await this.openAddress();
    window.addEventListener('hashchange', () => this.openAddress());
    document.body.dataset.state = 'ready';
  }

  /** Opens what the fragment of the address holds: a scenario, a lesson, else the first lesson. */
  async openAddress() {
    const shared = await fromFragment(location.hash);
    if (shared) await this.setText(shared);
    else await this.lessons.open(this.lessons.find(location.hash) ?? 0);
  }

  wire() {
    const on = (id, event, listener) => byId(id).addEventListener(event, listener);
    let typing;
    on('toml', 'input', () => {
      clearTimeout(typing);
      typing = setTimeout(() => this.setText(byId('toml').value, { isTyped: true }), 400);
    });
    on('run', 'click', () => this.run());
    on('stop', 'click', () => this.client.stop());
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
      const canvases = [...byId('charts').querySelectorAll('canvas')];
      const background = getComputedStyle(document.body).backgroundColor;
      offer('charts.png', await toPng(canvases, background), 'image/png');
    });
    on('save-svg', 'click', () => {
      if (this.result) offer('charts.svg', toSvg(curvesOf(this.result), numbers.time), 'image/svg+xml');
    });
    on('save-pcapng', 'click', () => {
      if (!this.result) return;
      try {
        offer('capture.pcapng', toPcapng(this.result), 'application/x-pcapng');
      } catch (error) {
        this.say(`No capture: ${error.message}.`);
      }
    });
    for (const tab of ['form', 'toml']) on(`tab-${tab}`, 'click', () => this.showTab(tab));
    document.addEventListener('keydown', (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') this.run();
    });
  }

  showTab(shown) {
    for (const tab of ['form', 'toml']) {
      byId(`tab-${tab}`).setAttribute('aria-selected', String(tab === shown));
      byId(`panel-${tab}`).hidden = tab !== shown;
    }
  }

  /** Takes a new text: reads it, checks it, and runs it if nothing is wrong. */
  async setText(text, { isTyped = false } = {}) {
    this.text = text;
    if (!isTyped) byId('toml').value = text;
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
  async changeAll(paths, value) {
    let changed = this.text;
    for (const path of paths) {
      const { text, error } = await this.client.call('editToml', [changed, path, value]);
      if (error) {
        this.say(error);
        return;
      }
      changed = text;
    }
    await this.setText(changed);
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
    byId('stop').hidden = false;
    const { predicted } = this.explained.explained;
    const everyPacket = (predicted?.packet_hops ?? 0) <= MOST_HOPS;
    const [data, explained] = [this.data, this.explained];
    try {
      if (predicted.cpu_s > SLOW_S) await this.preview(explained);
      const result = await this.client.call('run', [this.recorded(everyPacket)], ({ fraction }) => {
        byId('progress').value = fraction;
      });
      if (result.problems) this.showProblems(result.problems);
      else {
        this.say('');
        this.show({ ...result, data, explained, everyPacket });
      }
    } catch (error) {
      this.say(error instanceof Stopped ? 'Stopped.' : `The core failed: ${error.message}`);
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

  /** Shows the beginning of a long run: the same events, as far as they go. */
  async preview(explained) {
    const scenario = this.recorded(false);
    const first = await this.client.call('run', [
      { ...scenario, duration: explained.seconds * FIRST_PART, warmup: 0 },
    ]);
    if (first.problems) return;
    this.say(`This is its first ${numbers.share(FIRST_PART)}; the rest is being computed.`);
    const seconds = explained.seconds * FIRST_PART;
    this.show({ ...first, data: this.data, explained: { ...explained, seconds }, everyPacket: true });
  }

  show(result) {
    this.result = result;
    const { layout, explained } = result.explained;
    const links = wiresOf(explained);
    let timeline = null;
    if (result.tables.packets) {
      timeline = new Timeline(links);
      timeline.add(result.tables.packets);
    }
    this.states = new StateTable(result.tables.states, wordsOf(result.tables.flows.id).length);
    this.view.show(layout, links, timeline);
    this.playback.reset(result.explained.seconds);
    const titles = Object.keys(result.tables);
    byId('csv-table').replaceChildren(...titles.map((title) => element('option', {}, title)));
    this.showResult();
  }

  showResult() {
    const { result, reference } = this;
    byId('says').replaceChildren(...sentences(result).map((sentence) => element('p', {}, sentence)));
    if (!result.everyPacket) {
      byId('says').append(element('p', {}, 'This run has too many packets to draw each: the picture shows the network only.'));
    }
    byId('flows').replaceChildren(flowTable(result, reference));
    this.charts.show(result, reference);
    const differs = reference ? differences(reference.data, result.data) : [];
    byId('differs').replaceChildren(
      ...differs.map(({ path, a, b }) =>
        element('li', {}, `${path}: A ${JSON.stringify(a) ?? 'left out'}, B ${JSON.stringify(b) ?? 'left out'}`)));
    byId('compared').hidden = !reference;
    byId('digest').textContent = result.summary.digest;
    document.body.dataset.digest = result.summary.digest;
  }

  /** The states of the first flows at the time below the pointer. */
  showStates(time) {
    if (!this.result) return;
    const names = wordsOf(this.result.tables.flows.id).slice(0, 8);
    const said = names.map((name, flow) => `${name}: ${this.states.at(flow, time) || 'not started'}`);
    byId('states').textContent = time === null ? '' : `At ${numbers.time(time)}: ${said.join(', ')}`;
  }

  keep() {
    if (!this.result) return;
    this.reference = this.result;
    this.showResult();
    this.say('Kept as A. Change a value: the new run is B.');
  }

  forget() {
    this.reference = null;
    this.showResult();
  }

  showTime(time, pace) {
    this.view.draw(time, pace);
    this.charts.mark(time);
    byId('scrub').value = this.playback.end ? (1000 * time) / this.playback.end : 0;
    byId('now').textContent = `${time.toFixed(3)} s`;
    byId('play').textContent = this.playback.playing ? 'Pause' : 'Play';
  }

  showProblems(problems) {
    const line = (from) => (from === undefined ? '' : `line ${this.text.slice(0, from).split('\n').length}: `);
    byId('problems').replaceChildren(
      ...problems.map(({ path, message, from }) =>
        element('li', {}, `${line(from)}${path ? `${path}: ` : ''}${message}`)));
    byId('toml').setAttribute('aria-invalid', String(problems.length > 0));
    if (this.data) this.form.show(this.data, problems);
  }

  say(sentence) {
    byId('status').textContent = sentence;
  }
}

const page = new Page();
page.start().catch((error) => {
  byId('status').textContent = `The lab could not start: ${error.message}`;
  document.body.dataset.state = 'failed';
});
