// The core as a WebAssembly module: text in, blocks out. Runs in a worker or in Node.

const ALIGNMENT = 8;
// More rows than fit in the memory of a module.
const AT_THE_END = 2 ** 31 - 1;
const ARRAYS = { f64: Float64Array, u32: Uint32Array, u8: Uint8Array };

/**
 * Makes the module ready.
 *
 * @param {BufferSource} bytes The compiled module.
 * @param {(fraction: number, seconds: number) => void} [progress] Called some hundred times a run.
 * @returns {Promise<Core>}
 */
export async function loadCore(bytes, progress = () => {}) {
  let core;
  const host = { progress, part: (block) => core.takePart(block) };
  const { instance } = await WebAssembly.instantiate(bytes, { host });
  core = new Core(instance.exports);
  return core;
}

/** Calls into the module. A column is a typed array of its own, or a list of words. */
export class Core {
  constructor(exports) {
    this.exports = exports;
  }

  /** Version, JSON Schema of scenarios, and the catalogue of algorithms. */
  describe() {
    return this.#answer(this.exports.describe()).head;
  }

  /** A TOML text as `{data}` or `{problems}`. */
  readToml(text) {
    return this.#call('read_toml', text).head;
  }

  /** The text with the value at `path` changed, or taken out if null: `{text}` or `{error}`. */
  editToml(text, path, value) {
    return this.#call('edit_toml', JSON.stringify({ text, path, value })).head;
  }

  /** What a scenario amounts to: `{explained, layout}` or `{problems}`. */
  explain(scenario) {
    return this.#call('explain', JSON.stringify(scenario)).head;
  }

  /**
   * Runs a scenario: `{summary, tables}` or `{problems}`. The tables are those of flows, links and receivers.
   *
   * @param {Object} scenario
   * @param {number} [rows] Of what is recorded, so many rows are held before a part is given.
   * @param {(tables: Object, bytes: ArrayBuffer) => void} [give] Gets the parts, each later than those before, and the
   * bytes that its columns lie in.
   */
  run(scenario, rows = AT_THE_END, give = () => {}) {
    this.give = give;
    const { head, body } = this.#call('run', JSON.stringify(scenario), rows);
    return head.problems ? head : { summary: head.summary, tables: readTables(head.tables, body) };
  }

  /** Called by the module during a run. */
  takePart(block) {
    const { head, body } = this.#answer(block);
    this.give(readTables(head.tables, body), body.bytes);
  }

  #call(name, text, ...more) {
    const bytes = new TextEncoder().encode(text);
    const at = this.exports.allocate(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return this.#answer(this.exports[name](at, bytes.length, ...more));
  }

  /** Copies a block out of the module's memory and gives it back. */
  #answer(block) {
    const { memory, block_start: start, block_length: length, release } = this.exports;
    const bytes = memory.buffer.slice(start(block), start(block) + length(block));
    release(block);
    const headLength = new DataView(bytes).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, ALIGNMENT, headLength)));
    const bodyAt = Math.ceil((ALIGNMENT + headLength) / ALIGNMENT) * ALIGNMENT;
    return { head, body: { bytes, at: bodyAt } };
  }
}

function readTables(described, body) {
  const tables = {};
  for (const [name, columns] of Object.entries(described)) {
    tables[name] = {};
    for (const [title, column] of Object.entries(columns)) tables[name][title] = readColumn(column, body);
  }
  return tables;
}

function readColumn({ type, at, rows, words }, body) {
  const values = new ARRAYS[type](body.bytes, body.at + at, rows);
  return words ? { words, index: values } : values;
}
