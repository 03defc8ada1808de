// Proofs on real engines that are too long for CI: `npm run check:deploy`, or `npm run check:deploy -- docker brokers` for some of them.
// What was found is written to deploy/check/results.json with its date; `npm run docs` prints docs/deployment-checks.md from it.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parts } from './check/parts.mjs';

const resultsFile = path.join(import.meta.dirname, 'check/results.json');

/** Replaces the result of one part. */
function record(name, result) {
  const all = { ...JSON.parse(readFileSync(resultsFile, 'utf8')), [name]: result };
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => a.localeCompare(b)));
  writeFileSync(resultsFile, `${JSON.stringify(sorted, null, 2)}\n`);
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !parts.has(name));
if (unknown.length > 0 || asked.includes('--list')) {
  for (const [name, { title }] of parts) console.log(`  ${name.padEnd(12)} ${title}`);
  process.exit(asked.includes('--list') ? 0 : 2);
}

let failed = 0;
for (const name of asked.length > 0 ? asked : parts.keys()) {
  const part = parts.get(name);
  console.log(`\n== ${name}: ${part.title}`);
  const started = Date.now();
  const facts = [];
  const fact = (sentence) => {
    facts.push(sentence);
    console.log(`   ${sentence}`);
  };
  try {
    const missing = await part.missing();
    if (missing !== null) {
      console.log(`   left out: ${missing}`);
      continue;
    }
    await part.run({ fact });
    record(name, { date: new Date().toISOString().slice(0, 10), seconds: Math.round((Date.now() - started) / 1000), facts });
    console.log(`   passed in ${Math.round((Date.now() - started) / 1000)} s`);
  } catch (error) {
    failed += 1;
    console.error(`   FAILED: ${error.stack ?? error}`);
  }
}
process.exit(failed > 0 ? 1 : 0);
