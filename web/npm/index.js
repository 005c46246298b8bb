// The simulation core for Node, Deno and browsers: a scenario in, a summary and tables out.
import { loadCore } from './core.js';

export { Core, loadCore } from './core.js';

/**
 * Reads the module that is beside this file and makes it ready.
 *
 * @param {(fraction: number, seconds: number) => void} [progress] Called some hundred times a run.
 */
export async function load(progress) {
  const address = new URL('./ackclock.wasm', import.meta.url);
  if (address.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return loadCore(await readFile(address), progress);
  }
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status} ${answer.statusText}`);
  return loadCore(await answer.arrayBuffer(), progress);
}
