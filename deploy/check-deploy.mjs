// Checks on real engines that take too long for CI: `npm run check:deploy`, or `npm run check:deploy -- docker brokers` for some of them.
// The findings are written to deploy/check/results.json with their date; `npm run docs` prints docs/deployment-checks.md from it.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parts } from './check/parts.mjs';

const resultsFile = path.join(import.meta.dirname, 'check/results.json');

/** Replaces the result of one part, but never a passed result by a failed one. */
function record(name, result) {
  const before = JSON.parse(readFileSync(resultsFile, 'utf8'));
  if (result.stopped && before[name] && !before[name].stopped) return;
  const all = { ...before, [name]: result };
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
  const resultOf = () => ({ date: new Date().toISOString().slice(0, 10), seconds: Math.round((Date.now() - started) / 1000), facts });
  try {
    const missing = await part.missing();
    if (missing !== null) {
      console.log(`   left out: ${missing}`);
      continue;
    }
    await part.run({ fact });
    record(name, resultOf());
    console.log(`   passed in ${resultOf().seconds} s`);
  } catch (error) {
    failed += 1;
    record(name, { ...resultOf(), stopped: String(error.message).split('\n')[0] });
    console.error(`   FAILED: ${error.stack ?? error}`);
  }
}
process.exit(failed > 0 ? 1 : 0);
