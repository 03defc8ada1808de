import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Mode } from '@conclave/contracts';
import { alarmed, faults, poisonLog } from './faults.js';
import { Load } from './load.js';
import { mayStayZero, shownSince } from './panels.js';
import { nowS } from './prometheus.js';
import { startWatched, type Watched } from './watched-system.js';

/** Milliseconds for a round of the load on a busy machine. */
const patienceMs = 150_000;

const modes: readonly Mode[] = ['embedded', 'distributed'];

describe.each(modes)('a %s system under a real Prometheus', (mode) => {
  let watched: Watched;
  let load: Load;

  beforeAll(async () => {
    watched = await startWatched(mode, { fast: true });
    load = new Load(watched.system);
  }, 180_000);
  afterAll(() => watched?.stop(), 60_000);

  it('exports metrics in which promtool finds no fault, in every process', async () => {
    for (const name of watched.system.all().keys()) {
      const text = await (await fetch(`${watched.system.metricUrl(name)}/metrics`)).text();
      const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8', timeout: 20_000 });
      expect([name, checked.status, checked.stdout + checked.stderr]).toEqual([name, 0, '']);
    }
  }, 60_000);

  it('fires no alert while nothing is wrong', async () => {
    const from = nowS();
    await load.quietly(15, 1_000);
    expect(await watched.prometheus.fired(from, nowS())).toEqual([]);
  }, 60_000);

  it(
    'shows something in every panel of every dashboard',
    async () => {
      const from = nowS();
      load.begin();
      await load.more(2, patienceMs);
      if (mode === 'distributed') {
        // The process is restarted, and interrupted work is repeated.
        await watched.system.process('experts').kill();
        await poisonLog(watched.system, 'plan.created');
        await load.more(1, patienceMs);
      }
      await load.end();
      // Two more scrapes.
      await delay(2 * 1_000 * watched.prometheus.scrapeS);
      const { queries, empty, zero } = await shownSince(watched.prometheus, from);
      expect(queries).toBeGreaterThan(80);
      expect(empty).toEqual([]);
      expect(zero.filter((title) => !mayStayZero.has(title))).toEqual([]);
      if (mode === 'distributed') for (const title of ['Dead letters', 'Restarts']) expect(zero).not.toContain(title);
    },
    3 * patienceMs,
  );

  it('reports a panel that shows nothing, or that Prometheus does not understand', async () => {
    const panel = { description: '', kind: 'stat', unit: 'none' } as const;
    const panels = [
      { ...panel, title: 'Nothing', queries: [{ expr: 'conclave_no_such_metric', legend: '' }] },
      { ...panel, title: 'Nonsense', queries: [{ expr: 'sum(', legend: '' }] },
      { ...panel, title: 'Zero', queries: [{ expr: '0 * conclave_build_info', legend: '' }] },
    ];
    const { empty, zero } = await shownSince(watched.prometheus, nowS() - 10, [
      { name: 'control', title: 'Control', description: '', rows: [{ title: '', panels }] },
    ]);
    expect(empty).toEqual([expect.stringContaining('Nothing: no data'), expect.stringContaining('Nonsense: 1:5: parse error')]);
    expect(zero).toEqual(['Zero']);
  });

  it.each(faults.filter(({ modes }) => modes.includes(mode)))(
    'fires $alert for $cause',
    async (fault) => {
      expect(await alarmed(fault, watched, 90_000)).toBeLessThan(90);
    },
    120_000,
  );
});
