// Runs the core beside the page. A message `{id, call, given}` is answered by `{id, answer}`; before that, a run sends
// any number of `{id, progress}` and `{id, part}`.
import { loadCore } from './core.js';

let core;
let running = null;

function reportProgress(fraction, seconds) {
  if (running !== null) postMessage({ id: running, progress: { fraction, seconds } });
}

function givePart(tables, bytes) {
  postMessage({ id: running, part: tables }, [bytes]);
}

onmessage = async ({ data: { id, call, given } }) => {
  try {
    if (call === 'load') {
      core = await loadCore(given[0], reportProgress);
      postMessage({ id, answer: core.describe() });
      return;
    }
    running = call === 'run' ? id : null;
    const answer = call === 'run' ? core.run(given[0], given[1], givePart) : core[call](...given);
    postMessage({ id, answer });
  } catch (error) {
    postMessage({ id, error: String(error) });
  } finally {
    running = null;
  }
};
