// Runs the core beside the page. A message `{id, call, given}` is answered by `{id, answer}`.
import { loadCore } from './core.js';

let core;
let running = null;

function reportProgress(fraction, seconds) {
  if (running !== null) postMessage({ id: running, progress: { fraction, seconds } });
}

onmessage = async ({ data: { id, call, given } }) => {
  try {
    if (call === 'load') {
      core = await loadCore(given[0], reportProgress);
      postMessage({ id, answer: core.describe() });
      return;
    }
    running = call === 'run' ? id : null;
    postMessage({ id, answer: core[call](...given) });
  } catch (error) {
    postMessage({ id, error: String(error) });
  } finally {
    running = null;
  }
};
