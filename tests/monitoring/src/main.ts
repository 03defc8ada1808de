import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import type { Mode } from '@conclave/contracts';
import { alarmed, faults, poisonLog } from './faults.js';
import { Load } from './load.js';
import { mayStayZero, shownSince } from './panels.js';
import { nowS } from './prometheus.js';
import { startWatched } from './watched-system.js';

/**
 * `npm run check:dashboards`, the part `dashboards` of `npm run check:deploy`: the rules and the scrape interval as they ship, ten quiet
 * minutes without an alert, three minutes of the whole load, and each fault with its alert. Prints one line each, and adds it to the file
 * in CHECK_FACTS; exit code 1 if one of them fails. `node tools/run.mjs monitoring --quiet-s 60` tries it for a shorter time.
 */
const { values } = parseArgs({
  options: {
    mode: { type: 'string', default: 'distributed' },
    'quiet-s': { type: 'string', default: '600' },
    'load-s': { type: 'string', default: '180' },
  },
});
const mode = values.mode as Mode;
if (mode !== 'distributed' && mode !== 'embedded') throw new Error(`--mode is "${values.mode}"; it must be embedded or distributed.`);
const [quietS, loadS] = [Number(values['quiet-s']), Number(values['load-s'])];

let failed = 0;
function say(ok: boolean, what: string, details: readonly string[] = []): void {
  if (!ok) failed += 1;
  console.log(`${ok ? '✓' : '✗'} ${what}`);
  if (process.env['CHECK_FACTS']) appendFileSync(process.env['CHECK_FACTS'], `${ok ? '' : 'Not so: '}${what}.\n`);
  for (const detail of details) console.log(`    ${detail}`);
}

const watched = await startWatched(mode, { fast: false });
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    console.log(`Ended by ${signal}.`);
    void watched.stop().finally(() => process.exit(1));
  });
try {
  const load = new Load(watched.system);
  const from = nowS();
  await load.quietly(quietS, 3_000);
  const fired = await watched.prometheus.fired(from, nowS());
  say(
    fired.length === 0,
    `${quietS} s with a question every few seconds: no alert`,
    fired.map((one) => JSON.stringify(one)),
  );

  const loaded = nowS();
  load.begin();
  await delay((loadS * 1_000) / 3);
  if (mode === 'distributed') {
    await watched.system.process('experts').kill();
    await poisonLog(watched.system, 'plan.created');
  }
  await delay((loadS * 2_000) / 3);
  await load.end();
  await delay(20_000);
  const { queries, empty, zero } = await shownSince(watched.prometheus, loaded);
  const unmoved = zero.filter((title) => !mayStayZero.has(title));
  say(empty.length === 0, `${queries} queries of all panels after ${loadS} s of load: ${queries - empty.length} show data`, empty);
  say(unmoved.length === 0, 'every panel that has to show something happening does', unmoved);

  for (const fault of faults.filter(({ modes }) => modes.includes(mode))) {
    const took = await alarmed(fault, watched, 240_000).catch((error: Error) => error.message);
    say(
      typeof took === 'number',
      `${fault.alert} fires for ${fault.cause}${typeof took === 'number' ? `, after ${Math.round(took)} s` : ''}`,
    );
    if (typeof took === 'string') console.log(`    ${took}`);
  }
} finally {
  await watched.stop();
}
console.log(failed === 0 ? 'All as promised.' : `${failed} failed.`);
process.exitCode = failed === 0 ? 0 : 1;
