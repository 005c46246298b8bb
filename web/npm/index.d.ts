/** A column of a table: numbers, or words with the index of the word of each row. */
export type Column = Float64Array | Uint32Array | Uint8Array | { words: string[]; index: Uint32Array | Uint8Array };

/** Tables by name, columns by title. */
export type Tables = Record<string, Record<string, Column>>;

/** What is wrong with a scenario: where, and a sentence. */
export interface Problem {
  path: string;
  message: string;
  [more: string]: unknown;
}

/** A scenario as data, in the form of the JSON Schema that `describe()` gives. */
export type Scenario = Record<string, unknown>;

export interface Refused {
  problems: Problem[];
}

export interface Finished {
  /** What `ackclock run --json` prints, without flows, links and receivers, which are tables. */
  summary: Record<string, any>;
  /** `flows`, `links`, `receivers`, by row. */
  tables: Tables;
}

/** Called some hundred times a run: the part of the simulated time that is done, and that time in seconds. */
export type Progress = (fraction: number, seconds: number) => void;

/** Calls into the module. It computes in the caller's thread: put it into a worker for runs of more than a moment. */
export class Core {
  /** Version, JSON Schema of scenarios, and the catalogue of algorithms. */
  describe(): Record<string, any>;
  /** A TOML text as data. */
  readToml(text: string): { data: Scenario } | Refused;
  /** The text with the value at `path` changed, or removed if null; comments stay. */
  editToml(text: string, path: (string | number)[], value: unknown): { text: string } | { error: string };
  /** Routes, defaults and doubts of a scenario, without a run. */
  explain(scenario: Scenario): Record<string, any> | Refused;
  /**
   * Runs a scenario. What it records is passed to `give` in parts of at most `rows` rows, each later than those before,
   * with the bytes that its columns lie in.
   */
  run(scenario: Scenario, rows?: number, give?: (tables: Tables, bytes: ArrayBuffer) => void): Finished | Refused;
}

/** Makes a module ready whose bytes the caller has. */
export function loadCore(bytes: BufferSource, progress?: Progress): Promise<Core>;

/** Reads the module of this package and makes it ready. */
export function load(progress?: Progress): Promise<Core>;
