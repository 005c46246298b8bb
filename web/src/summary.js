// A run in sentences and two short tables.
import { colourOf, onPage } from './colours.js';
import { element } from './dom.js';
import * as numbers from './numbers.js';
import { jain, mostUsed, wordsOf } from './series.js';

/** Sentences about a run. */
export function sentences({ summary, tables }) {
  const { flows, links } = tables;
  const goodput = Array.from(flows.goodput_bps);
  const total = goodput.reduce((a, b) => a + b, 0);
  const link = mostUsed(links);
  const names = wordsOf(links.id);
  const many = goodput.length > 1;
  const said = [
    many
      ? `${goodput.length} flows deliver ${numbers.rate(total)} together; Jain's index is ${numbers.count(jain(goodput))}.`
      : `The flow delivers ${numbers.rate(total)}.`,
  ];
  if (link !== undefined) {
    said.push(
      `${names[link]} is ${numbers.share(links.utilisation[link])} busy, ` +
        `${numbers.count(Math.round(1000 * links.queue_mean_packets[link]) / 1000)} packets wait there on average, ` +
        `and ${numbers.share(links.loss_ratio[link])} of what arrives is dropped.`,
    );
  }
  const took = Array.from(flows.completed_after_s ?? []).filter((value) => value !== null && Number.isFinite(value));
  if (took.length) {
    const mean = took.reduce((a, b) => a + b, 0) / took.length;
    said.push(`${took.length} ${took.length === 1 ? 'transfer' : 'transfers'} ended, after ${numbers.time(mean)} on average.`);
  }
  return said.concat(summary.warnings ?? []);
}

/** The table of flows. */
export function flowTable({ tables: { flows } }, reference) {
  const before = reference?.tables.flows;
  const names = wordsOf(flows.id);
  const kinds = wordsOf(flows.cc);
  const columns = [
    ['goodput', 'goodput_bps', numbers.rate],
    ['mean RTT', 'srtt_mean_s', numbers.time],
    ['median RTT', 'rtt_p50_s', numbers.time],
    ['95 % RTT', 'rtt_p95_s', numbers.time],
    ['lost', 'lost_data_packets', numbers.count],
    ['retransmitted', 'retransmits', numbers.count],
    ['timeouts', 'timeouts', numbers.count],
  ];
  const rows = names.map((name, at) =>
    element('tr', {},
      element('th', { scope: 'row' }, swatch(at), name),
      element('td', {}, kinds[at]),
      ...columns.map(([, key, format]) => {
        const was = before && at < before[key].length ? element('span', { className: 'was' }, `A ${format(before[key][at])}`) : null;
        return element('td', {}, was, format(flows[key][at]));
      })));
  const head = ['flow', 'control', ...columns.map(([title]) => title)];
  return element('table', {},
    element('caption', {}, element('span', {}, before ? 'Flows: A beside the present run, B' : 'Flows, after the warm-up where a rate is given')),
    element('thead', {}, element('tr', {}, ...head.map((title) => element('th', { scope: 'col' }, title)))),
    element('tbody', {}, ...rows));
}

function swatch(flow) {
  const mark = element('span', { className: 'swatch', aria: { hidden: 'true' } });
  mark.style.background = onPage(colourOf(flow));
  return mark;
}

/** Paths at which two scenarios differ, with both values. */
export function differences(a, b, path = '') {
  const isTable = (value) => value !== null && typeof value === 'object';
  if (!isTable(a) || !isTable(b)) {
    return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ path, a, b }];
  }
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const join = (key) => (Array.isArray(a) ? `${path}[${key}]` : path ? `${path}.${key}` : key);
  return keys.flatMap((key) => differences(a[key], b[key], join(key)));
}
