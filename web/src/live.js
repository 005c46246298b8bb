// What a run has recorded so far: tables that grow part by part, and what charts need before its end.
import { TimeSequence } from './series.js';
import { Timeline } from './timeline.js';

/** A column that grows. Of a column of words, each part has a list of words of its own. */
class Column {
  constructor() {
    this.values = null;
    this.length = 0;
    this.numbers = null;
  }

  add(part) {
    const values = part.words ? this.#numbered(part) : part;
    // The first part is taken as it is: a run in one part is not copied.
    if (this.values === null || this.length === 0) this.values = values;
    else this.#append(values);
    this.length += values.length;
  }

  /** What is there, in the form of a part. */
  get view() {
    const index = this.values.subarray(0, this.length);
    return this.numbers ? { words: [...this.numbers.keys()], index } : index;
  }

  #append(values) {
    const length = this.length + values.length;
    if (length > this.values.length) {
      const larger = new this.values.constructor(2 * length);
      larger.set(this.values.subarray(0, this.length));
      this.values = larger;
    }
    this.values.set(values, this.length);
  }

  #numbered({ words, index }) {
    this.numbers ??= new Map();
    const known = words.map((word) => {
      if (!this.numbers.has(word)) this.numbers.set(word, this.numbers.size);
      return this.numbers.get(word);
    });
    return index.map((word) => known[word]);
  }
}

/** Tables that grow. */
export class GrowingTables {
  #columns = new Map();

  /** Adds later rows of each table. */
  add(tables) {
    for (const [name, table] of Object.entries(tables)) {
      if (!this.#columns.has(name)) this.#columns.set(name, new Map());
      const columns = this.#columns.get(name);
      for (const [title, part] of Object.entries(table)) {
        if (!columns.has(title)) columns.set(title, new Column());
        columns.get(title).add(part);
      }
    }
  }

  /** What is there, as a run's `tables`. */
  get view() {
    const tables = {};
    for (const [name, columns] of this.#columns) {
      tables[name] = Object.fromEntries([...columns].map(([title, column]) => [title, column.view]));
    }
    return tables;
  }
}

/** A run from its first recorded row to its end. */
export class LiveRun {
  #recorded = new GrowingTables();

  /**
   * @param {{data: Object, explained: Object, links: Object[], everyPacket: boolean}} about The scenario, what the core
   * explains of it, its links as a timeline takes them, and whether the table `packets` is recorded.
   */
  constructor({ data, explained, links, everyPacket }) {
    Object.assign(this, { data, explained, everyPacket });
    /** Simulated time up to which there are rows. */
    this.seconds = 0;
    this.timeline = everyPacket ? new Timeline(links) : null;
    this.sequence = everyPacket ? new TimeSequence(explained.explained) : null;
  }

  /** Adds a part of the tables. */
  add(tables) {
    this.#recorded.add(tables);
    for (const { time_s: times } of Object.values(tables)) {
      if (times?.length) this.seconds = Math.max(this.seconds, times.at(-1));
    }
    if (!this.everyPacket) return;
    this.timeline.add(tables.packets);
    this.sequence.add(tables.packets);
  }

  /** The run up to now: of flows and links, what is known before the end. */
  soFar() {
    const recorded = this.#recorded.view;
    const { flows, links } = this.explained.explained;
    const named = { flows: namesOf(flows), links: { ...namesOf(links), ...loads(links, recorded.link_samples) } };
    return this.#result({ tables: { ...recorded, ...named }, recorded, isWhole: false });
  }

  /** The whole run, with the core's answer. */
  whole({ summary, tables }) {
    const recorded = this.#recorded.view;
    return this.#result({ summary, tables: { ...tables, ...recorded }, recorded, isWhole: true });
  }

  #result(more) {
    const { data, explained, everyPacket, timeline, sequence, seconds } = this;
    return { data, explained, everyPacket, timeline, sequence, seconds, ...more };
  }
}

/** Identifiers as columns of words. */
function namesOf(lines) {
  const column = (of) => ({ words: lines.map(of), index: Uint32Array.from(lines.keys()) });
  return { id: column(({ id }) => id), src: column(({ src }) => src) };
}

/** How full and how busy each link is in its samples so far. */
function loads(links, samples) {
  const [queues, rows, bytes] = [0, 1, 2].map(() => new Float64Array(links.length));
  for (let row = 0; row < samples.link.length; row++) {
    const link = samples.link[row];
    queues[link] += samples.queue_packets[row];
    rows[link] += 1;
    bytes[link] = samples.departed_bytes[row];
  }
  const seconds = samples.time_s.at(-1) || 1;
  return {
    rate_bps: Float64Array.from(links, (link) => link.rate_bps),
    queue_mean_packets: queues.map((sum, link) => sum / (rows[link] || 1)),
    utilisation: bytes.map((sum, link) => (8 * sum) / (seconds * links[link].rate_bps || 1)),
  };
}
