// Runs scenarios in the module and prints a digest each: node digests.js MODULE SCENARIOS.json
import fs from 'node:fs';
import { loadCore } from '../src/core.js';

const [, , module, scenarios] = process.argv;
const core = await loadCore(fs.readFileSync(module));
for (const scenario of JSON.parse(fs.readFileSync(scenarios, 'utf8'))) {
  const { summary, problems } = core.run(scenario);
  console.log(problems ? JSON.stringify(problems) : summary.digest);
}
