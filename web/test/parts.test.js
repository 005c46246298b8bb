// Parts that need no page: node --test.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCsv, toSvg } from '../src/download.js';
import { readValue } from '../src/form.js';
import { parsePath } from '../src/lessons.js';
import * as numbers from '../src/numbers.js';
import { place } from '../src/placement.js';
import { Playback } from '../src/playback.js';
import { timeColour } from '../src/colours.js';
import { GrowingTables, LiveRun } from '../src/live.js';
import { StateTable, TimeSequence, jain, lastAt, mostUsed, rateOf, sampled } from '../src/series.js';
import { answersToml } from '../src/sheets.js';
import { bytesOf } from '../src/letters.js';
import { fromFragment, toFragment } from '../src/share.js';
import { differences, sentences } from '../src/summary.js';
import { Timeline } from '../src/timeline.js';

test('bytes come back from the letters that the build writes', () => {
  // As tools/build_web.py writes 0, 1, .. and 255; the second ends with one letter.
  assert.deepEqual([...bytesOf('#ngc#nEs"8/d.6')], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255]);
  assert.deepEqual([...bytesOf('(^!;}B"')], [1, 2, 3, 4, 255]);
});

test('a sampled table is taken apart by its index', () => {
  const table = { time_s: [0, 0, 1, 1, 2, 2], flow: [0, 1, 0, 1, 0, 1], cwnd: [1, 10, 2, 20, 3, 30] };
  const { times, values } = sampled(table, 'flow', 'cwnd', 2);
  assert.deepEqual([...times], [0, 1, 2]);
  assert.deepEqual([...values.get(1)], [10, 20, 30]);
});

test('a rate is bits over the span before', () => {
  assert.deepEqual([...rateOf([0, 1, 2, 3], [0, 1000, 3000, 3000], 1)], [0, 8000, 16000, 0]);
  assert.equal(rateOf([0, 1, 2, 3], [0, 1000, 3000, 3000], 2)[3], 8000);
});

test("Jain's index of equal shares is 1, of one user of four a quarter", () => {
  assert.equal(jain([3, 3, 3]), 1);
  assert.equal(jain([8, 0, 0, 0]), 0.25);
});

test('the last time not after another', () => {
  assert.deepEqual([-1, 0, 0.5, 1, 9].map((t) => lastAt([0, 1, 1, 2], t)), [-1, 0, 0, 2, 3]);
});

test('numbers have three digits and a prefix', () => {
  assert.equal(numbers.rate(12_221_234), '12.2 Mbit/s');
  assert.equal(numbers.time(0.04521), '45.2 ms');
  assert.equal(numbers.share(0.97), '97 %');
  assert.equal(numbers.rate(NaN), '–');
});

test('what is typed becomes a value of TOML', () => {
  assert.deepEqual(['', ' 3 ', '0.5', 'true', '10 Mbps', '1e3'].map(readValue), [null, 3, 0.5, true, '10 Mbps', 1000]);
  assert.deepEqual(parsePath('flows[0].cc.b'), ['flows', 0, 'cc', 'b']);
});

test('a shared scenario comes back, and a damaged or an oversized one does not', async () => {
  const text = `# é "quotes" <script>\n${'[[flows]]\n'.repeat(50)}`;
  const fragment = await toFragment(text);
  assert.match(fragment, /^#s=[\w-]+$/);
  assert.equal(await fromFragment(fragment), text);
  assert.equal(await fromFragment('#s=AAAA____'), null);
  assert.equal(await fromFragment('#other'), null);
  assert.equal(await fromFragment(await toFragment('x'.repeat(300_000))), null);
});

test('a table with names that need it is quoted', () => {
  const table = { id: { words: ['a,b', 'say "x"'], index: [0, 1] }, rate: [1.5, 2] };
  assert.equal(toCsv(table), 'id,rate\r\n"a,b",1.5\r\n"say ""x""",2\r\n');
});

test('differences are named by their path', () => {
  const found = differences({ net: { rate: '1', hops: 2 }, flows: [{ cc: 'a' }] }, { net: { rate: '2', hops: 2 }, flows: [{ cc: 'a' }, {}] });
  assert.deepEqual(found.map(({ path }) => path), ['net.rate', 'flows[1]']);
});

test('a packet is on the wire from its departure for transmission and propagation', () => {
  const event = { words: ['arrival', 'departure', 'drop'], index: [0, 1, 0, 1, 0, 2] };
  const packets = {
    event, time_s: [0, 0, 0.1, 1, 1.5, 1.5], link: [0, 0, 0, 0, 0, 0], flow: [0, 0, 1, 1, 2, 2],
    is_ack: [0, 0, 0, 0, 0, 0], size_bytes: [1000, 1000, 1000, 1000, 1000, 1000], seq: [0, 0, 7, 7, 0, 0],
  };
  const whole = new Timeline([{ rate_bps: 8000, propagation_s: 1 }]);
  whole.add(packets);
  // In two pieces, whose words have another order.
  const part = (from, to, words) => ({
    ...Object.fromEntries(Object.entries(packets).map(([key, values]) => [key, key === 'event' ? null : values.slice(from, to)])),
    event: { words, index: event.index.slice(from, to).map((word) => words.indexOf(event.words[word])) },
  });
  const timeline = new Timeline([{ rate_bps: 8000, propagation_s: 1 }]);
  timeline.add(part(0, 3, ['departure', 'arrival']));
  timeline.add(part(3, 6, ['drop', 'departure', 'arrival']));
  assert.deepEqual(timeline, whole);
  assert.equal(timeline.waiting(0, 0.5), 1);
  assert.equal(timeline.waiting(0, 1.2), 0);
  assert.deepEqual(timeline.onWire(0, 1.5).map(({ flow, at }) => [flow, at]), [[1, 0.25], [0, 0.75]]);
  assert.deepEqual(timeline.onWire(0, 2.5).map(({ flow }) => flow), [1]);
  assert.deepEqual(timeline.drops(0, 1.75, 0.5), [{ flow: 2, age: 0.5 }]);
});

test('routers of a dumbbell stand on a line, and no two nodes on one place', () => {
  const layout = { nodes: ['r0', 'r1', 's0', 's1', 'd0', 'd1'], links: [['r0', 'r1'], ['s0', 'r0'], ['s1', 'r0'], ['r1', 'd0'], ['r1', 'd1']] };
  const places = place(layout);
  assert.equal(places.get('r0').y, places.get('r1').y);
  assert.ok(places.get('s0').x < places.get('r0').x && places.get('d0').x > places.get('r1').x);
  assert.equal(new Set([...places.values()].map(({ x, y }) => `${x},${y}`)).size, 6);
});

test('a flow has its last state', () => {
  const states = { time_s: [0, 1, 2], flow: [0, 1, 0], state: { words: ['slow-start', 'loss'], index: [0, 0, 1] } };
  const table = new StateTable(states, 3);
  assert.deepEqual([table.at(0, 1.9), table.at(0, 2), table.at(1, 0.5), table.at(2, 9)], ['slow-start', 'loss', '', '']);
});

test('an SVG holds every curve, and names as text', () => {
  const chart = { title: 'Queue', times: [0, 1], curves: [{ name: '<b>&"', colour: '#123456', values: [0, 4] }], format: String };
  const svg = toSvg([{ ...chart, capacity: { name: 'capacity', colour: '#888', values: [8, 8] } }, chart], String, [chart]);
  assert.equal(svg.match(/<polyline/g).length, 4);
  assert.equal(svg.match(/stroke-dasharray/g).length, 2);
  assert.ok(svg.includes('&lt;b&gt;&amp;&quot;') && !svg.includes('<b>'));
});

test('tables that come in parts are those that come at once', () => {
  const whole = {
    states: { time_s: Float64Array.of(0, 1, 2, 3, 4), state: { words: ['loss', 'idle', 'slow-start'], index: Uint32Array.of(0, 1, 1, 2, 0) } },
    drops: { time_s: Float64Array.of(), is_ack: Uint8Array.of() },
  };
  const grown = new GrowingTables();
  // Words are numbered in each part anew; a table may have no rows in one.
  const part = (times, words, index) => ({
    states: { time_s: Float64Array.from(times), state: { words, index: Uint32Array.from(index) } },
    drops: { time_s: new Float64Array(0), is_ack: new Uint8Array(0) },
  });
  grown.add(part([], [], []));
  grown.add(part([0, 1], ['loss', 'idle'], [0, 1]));
  grown.add(part([2, 3], ['idle', 'slow-start'], [0, 1]));
  const before = grown.view.states;
  grown.add(part([4], ['loss'], [0]));
  assert.deepEqual(grown.view, whole);
  assert.deepEqual([...before.time_s], [0, 1, 2, 3]);
});

test('a run that goes on knows names, loads and the time it has come to', () => {
  const explained = {
    flows: [{ id: 'a', src: 's0' }],
    links: [{ id: 'up', src: 's0', rate_bps: 8000 }, { id: 'down', src: 'r0', rate_bps: 800 }],
  };
  const live = new LiveRun({ data: {}, explained: { explained }, links: [{}, {}], everyPacket: false });
  const samples = (times, queues, bytes) => ({
    link_samples: {
      time_s: Float64Array.from(times), link: Uint32Array.of(0, 1), queue_packets: Uint32Array.from(queues), departed_bytes: Float64Array.from(bytes),
    },
  });
  live.add(samples([0, 0], [0, 0], [0, 0]));
  live.add(samples([2, 2], [0, 6], [100, 150]));
  const { tables, seconds, isWhole } = live.soFar();
  assert.deepEqual([seconds, isWhole], [2, false]);
  assert.deepEqual(tables.links.id.words, ['up', 'down']);
  assert.deepEqual([...tables.links.queue_mean_packets], [0, 3]);
  assert.deepEqual([...tables.links.utilisation], [0.05, 0.75]);
  const { isWhole: isEnd, summary, tables: all } = live.whole({ summary: { seed: 1 }, tables: { flows: 'rows' } });
  assert.deepEqual([isEnd, summary.seed, all.flows, all.link_samples.time_s.length], [true, 1, 'rows', 4]);
});

test('a time-sequence has the first link of the first flow, and its losses anywhere', () => {
  const sequence = new TimeSequence({ flows: [{ src: 's0' }], links: [{ src: 's0' }, { src: 'r0' }] });
  sequence.add({
    event: { words: ['arrival', 'departure', 'drop'], index: [0, 1, 1, 2, 1, 1] },
    flow: [0, 0, 0, 0, 1, 0], is_ack: [0, 0, 0, 0, 0, 1], link: [0, 0, 1, 1, 0, 0], time_s: [1, 2, 3, 4, 5, 6], seq: [7, 7, 7, 8, 9, 7],
  });
  assert.deepEqual(sequence.sent, [[2], [7]]);
  assert.deepEqual(sequence.lost, [[4], [8]]);
});

test('what is played waits for what is computed', () => {
  const times = [];
  const playback = new Playback((time) => times.push(time));
  playback.reset(60, 5);
  playback.seek(30);
  playback.extend(20);
  playback.seek(30);
  playback.extend(60);
  playback.seek(30);
  assert.deepEqual(times, [0, 5, 20, 30]);
});

test('the colour of time gets lighter from start to end', () => {
  const lightness = (part) => timeColour(part).match(/\d+/g).reduce((sum, value) => sum + Number(value), 0);
  const steps = [0, 0.25, 0.5, 0.75, 1].map(lightness);
  assert.deepEqual(steps, [...steps].sort((a, b) => a - b));
  assert.equal(timeColour(-1), timeColour(0));
  assert.equal(timeColour(2), timeColour(1));
});

test('the packets that wait are those that leave next', () => {
  const timeline = new Timeline([{ rate_bps: 1e6, propagation_s: 0.01 }]);
  const rows = [[0, 'arrival', 0], [1, 'arrival', 1], [2, 'departure', 1], [3, 'departure', 0]];
  const words = ['arrival', 'departure', 'drop'];
  timeline.add({
    event: { words, index: rows.map(([, event]) => words.indexOf(event)) },
    link: rows.map(() => 0), time_s: rows.map(([time]) => time), flow: rows.map(([, , flow]) => flow),
    is_ack: rows.map(() => 0), size_bytes: rows.map(() => 1500), seq: rows.map(() => 0),
  });
  assert.deepEqual(timeline.queued(0, 0.5), [1]);
  assert.deepEqual(timeline.queued(0, 1.5), [1, 0]);
  assert.deepEqual(timeline.queued(0, 2.5), [0]);
  assert.deepEqual(timeline.queued(0, 3.5), []);
});

test('answers of a sheet are a file for the grader: numbers as numbers, the rest as text', () => {
  const sheet = { name: 'x', questions: [{ id: 'a', unit: 'ms' }, { id: 'b', unit: null }, { id: 'c', unit: 's' }, { id: 'd', unit: 's' }] };
  const text = answersToml(sheet, { a: '12,5', b: 'say "so"\nthen', c: 'fast', d: '' });
  assert.equal(text, 'sheet = "x"\n\n[answers]\na = 12.5\nb = "say \\"so\\"\\nthen"\nc = "fast"\n');
});

test('the link that is used most gives the capacity, not one where a burst waits', () => {
  assert.equal(mostUsed({ utilisation: [0.01, 0.11], queue_mean_packets: [3, 0.2] }), 1);
  assert.equal(mostUsed({ utilisation: [0.999, 1, 0.5], queue_mean_packets: [20, 10, 90] }), 0);
  assert.equal(mostUsed({ utilisation: [], queue_mean_packets: [] }), undefined);
});

test('a queue that hardly ever holds a packet is none', () => {
  const flows = { goodput_bps: [1e6], completed_after_s: [] };
  const links = { id: { words: ['l'], index: [0] }, queue_mean_packets: [5.4e-6], utilisation: [0.1], loss_ratio: [0] };
  assert.match(sentences({ summary: {}, tables: { flows, links } })[1], /l is 10 % busy, 0 packets wait there/);
});

test('sentences give the mean time of the transfers that ended', () => {
  const flows = { goodput_bps: [1e6, 0, 0], completed_after_s: [NaN, 2, 3] };
  const links = { id: { words: [], index: [] }, queue_mean_packets: [], utilisation: [], loss_ratio: [] };
  const said = sentences({ summary: {}, tables: { flows, links } });
  assert.equal(said.at(-1), '2 transfers ended, after 2.5 s on average.');
  flows.completed_after_s = [null, null, NaN];
  assert.equal(sentences({ summary: {}, tables: { flows, links } }).length, 1);
});

test('a mark is on the data that carries it and on the acknowledgement that echoes it', () => {
  const timeline = new Timeline([{ rate_bps: 1e6, propagation_s: 1 }]);
  const flags = [4, 12, 1, 17];
  timeline.add({
    event: { words: ['departure'], index: flags.map(() => 0) }, link: flags.map(() => 0), flags,
    time_s: [0.1, 0.2, 0.3, 0.4], flow: flags.map(() => 0), is_ack: [0, 0, 1, 1], size_bytes: flags.map(() => 40), seq: [0, 1, 2, 3],
  });
  assert.deepEqual(timeline.onWire(0, 0.5).map(({ seq, isMarked }) => [seq, isMarked]), [[3, true], [2, false], [1, true], [0, false]]);
});
