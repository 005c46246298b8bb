// Runs scenarios in the module, at once and in parts, and prints a digest each: node digests.js MODULE SCENARIOS.json
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { loadCore } from '../src/core.js';
import { GrowingTables } from '../src/live.js';

const ROWS = 500;
const TABLES = ['flow_samples', 'link_samples', 'states', 'drops'];

const [, , module, scenarios] = process.argv;
const core = await loadCore(fs.readFileSync(module));

/** The recorded tables of a run whose parts have so many rows, how many parts there were, and its digest. */
function run(scenario, rows) {
  const grown = new GrowingTables();
  let parts = 0;
  const { summary, problems } = core.run(scenario, rows, (tables) => {
    grown.add(tables);
    parts += 1;
  });
  return { tables: grown.view, parts, digest: problems ? JSON.stringify(problems) : summary.digest };
}

for (const scenario of JSON.parse(fs.readFileSync(scenarios, 'utf8'))) {
  const recorded = { ...scenario, record: { tables: TABLES, interval: 0.02 } };
  const [whole, inParts] = [run(recorded), run(recorded, ROWS)];
  assert.equal(whole.parts, 1);
  assert.ok(inParts.parts > 1);
  assert.deepEqual(inParts.tables, whole.tables);
  assert.equal(inParts.digest, whole.digest);
  console.log(whole.digest);
}
