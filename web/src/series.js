// Curves from the tables of a run. No drawing here: arrays in, arrays out.

/** The distinct times of a sampled table and one column as an array per index. */
export function sampled(table, index, column, count) {
  const rows = table.time_s.length;
  const kept = new Set();
  for (let row = 0; row < rows && kept.size < count; row++) kept.add(table[index][row]);
  const width = kept.size || 1;
  const samples = Math.floor(rows / width);
  const times = new Float64Array(samples);
  const values = new Map([...kept].map((who) => [who, new Float64Array(samples)]));
  for (let row = 0; row < samples * width; row++) {
    const sample = Math.floor(row / width);
    times[sample] = table.time_s[row];
    values.get(table[index][row])[sample] = table[column][row];
  }
  return { times, values };
}

/** Rate of change of a counter of bytes in bit/s, smoothed over `span` samples. */
export function rateOf(times, bytes, span) {
  const rates = new Float64Array(times.length);
  for (let at = 0; at < times.length; at++) {
    const from = Math.max(0, at - span);
    const seconds = times[at] - times[from];
    rates[at] = seconds > 0 ? (8 * (bytes[at] - bytes[from])) / seconds : 0;
  }
  return rates;
}

/** Mean of a curve over the `span` samples before each. */
export function smoothed(values, span) {
  const means = new Float64Array(values.length);
  let sum = 0;
  for (let at = 0; at < values.length; at++) {
    sum += values[at];
    if (at >= span) sum -= values[at - span];
    means[at] = sum / Math.min(at + 1, span);
  }
  return means;
}

/** Jain's index of what flows get; 1 is equal. */
export function jain(values) {
  const sum = values.reduce((a, b) => a + b, 0);
  const squares = values.reduce((a, b) => a + b * b, 0);
  return squares > 0 ? (sum * sum) / (values.length * squares) : NaN;
}

/** Position of the last time that is not after `time`; -1 before the first. */
export function lastAt(times, time) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Index of the busiest links, the fullest first, that carry data. */
export function busiest(links, atMost) {
  const order = [...links.utilisation.keys()].sort(
    (a, b) =>
      links.queue_mean_packets[b] - links.queue_mean_packets[a] ||
      links.utilisation[b] - links.utilisation[a],
  );
  return order.slice(0, atMost);
}

/** The link that is used most, of those used as much the fullest; undefined if there is none. */
export function mostUsed(links) {
  const used = (link) => Math.round(100 * links.utilisation[link]);
  const [first] = [...links.utilisation.keys()].sort(
    (a, b) => used(b) - used(a) || links.queue_mean_packets[b] - links.queue_mean_packets[a]);
  return first;
}

/** A column of words as an array. */
export const wordsOf = (column) => Array.from(column.index, (word) => column.words[word]);

/** The last state of each flow at a time, from the table `states`: a word, or empty before the first. */
export class StateTable {
  constructor(states, flows) {
    this.times = Array.from({ length: flows }, () => []);
    this.words = Array.from({ length: flows }, () => []);
    for (let row = 0; row < states.time_s.length; row++) {
      const flow = states.flow[row];
      this.times[flow].push(states.time_s[row]);
      this.words[flow].push(states.state.words[states.state.index[row]]);
    }
  }

  /** The state of a flow. */
  at(flow, time) {
    return this.words[flow][lastAt(this.times[flow], time)] ?? '';
  }
}

/** Times and sequence numbers of the first flow at its first link, and where it lost packets; grows part by part. */
export class TimeSequence {
  /** @param {{flows: Object[], links: Object[]}} explained */
  constructor({ flows, links }) {
    const source = flows[0]?.src;
    this.isFirst = links.map(({ src }) => src === source);
    this.sent = [[], []];
    this.lost = [[], []];
  }

  /** Adds rows of the table `packets`. */
  add(packets) {
    const { words, index } = packets.event;
    const [departure, ...losses] = ['departure', 'drop', 'loss'].map((word) => words.indexOf(word));
    for (let row = 0; row < index.length; row++) {
      if (packets.flow[row] !== 0 || packets.is_ack[row]) continue;
      if (index[row] === departure && this.isFirst[packets.link[row]]) this.#put(this.sent, packets, row);
      else if (losses.includes(index[row])) this.#put(this.lost, packets, row);
    }
  }

  #put([times, numbers], packets, row) {
    times.push(packets.time_s[row]);
    numbers.push(packets.seq[row]);
  }
}
