// The page's side of the worker: calls as promises, a stop that takes effect at once.

/** Calls the core in a worker. A stopped run rejects with `Stopped`. */
export class Client {
  #worker;
  #waiting = new Map();
  #next = 1;
  #source;
  #module;

  /**
   * @param {string} source The worker's program.
   * @param {ArrayBuffer} module The compiled core.
   */
  constructor(source, module) {
    this.#source = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    this.#module = module;
  }

  /** Starts the worker; gives the core's description of itself. */
  start() {
    this.#worker = new Worker(this.#source);
    this.#worker.onmessage = ({ data }) => this.#receive(data);
    this.#worker.onerror = (event) => this.#fail(new Error(event.message));
    return this.call('load', [this.#module]);
  }

  /** Calls a method of `Core`. Of a run, `onProgress` gets `{fraction, seconds}` and `onPart` parts of its tables. */
  call(name, given, { onProgress, onPart } = {}) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, onProgress, onPart });
      this.#worker.postMessage({ id, call: name, given });
    });
  }

  /** Ends what is running and makes the worker ready again. */
  async stop() {
    this.#worker.terminate();
    this.#fail(new Stopped());
    await this.start();
  }

  #receive({ id, progress, part, answer, error }) {
    const call = this.#waiting.get(id);
    if (!call) return;
    if (progress || part) {
      if (progress) call.onProgress?.(progress);
      else call.onPart?.(part);
      return;
    }
    this.#waiting.delete(id);
    if (error) call.reject(new Error(error));
    else call.resolve(answer);
  }

  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** The user stopped the run. */
export class Stopped extends Error {}
