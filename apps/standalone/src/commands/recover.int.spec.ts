import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openLog } from '@conclave/host';
import { claimStores, loadConfiguration, silentLogger } from '@conclave/platform';
import { leaseTtlMs } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { startRedis, type UrlInstance } from '@conclave/test-support/real-servers';
import { CommitteeScript, System, expert, latch, readRun, repeatedFinished, runEnd, startRun } from '@conclave/test-support/system';
import { expertPrompts } from '@conclave/strategies';
import { Redis } from 'ioredis';
import { exitCodes } from './ask.js';
import { backupCommand, restoreCommand } from './backup.js';
import { recoverCommand } from './recover.js';

let redis: UrlInstance;
let system: System;
const copies = mkdtempSync(join(tmpdir(), 'conclave-copy-'));
beforeAll(async () => {
  redis = await startRedis();
  system = await System.start({ mode: 'distributed', servers: { REDIS_URL: redis.url } });
}, 60_000);
afterAll(async () => {
  await system?.stop();
  await redis?.destroy();
  rmSync(copies, { recursive: true, force: true });
}, 60_000);

const data = (): string => join(redis.folder, 'data');
const load = () => loadConfiguration(system.environment(), system.folder, { categories: Object.keys(expertPrompts) });
const script = (label: string): CommitteeScript => new CommitteeScript(system.models, `What is kept? (${label})`);
const begin = async (s: CommitteeScript): Promise<string> =>
  (await startRun(system.url(), { model: 'conclave-fast', input: s.question })).body.id;
const called = (s: CommitteeScript, role: 'planner' | 'expert' | 'composer') =>
  until(`a call of the ${role}`, () => s.calls(role).length > 0);

async function readiness(): Promise<readonly number[]> {
  return Promise.all(
    system.healthUrls().map(async (url) => {
      const { status } = await fetch(`${url}/health/ready`);
      return status;
    }),
  );
}
const all = (ready: boolean) =>
  until(`every process to be ${ready ? 'ready' : 'red'}`, async () => (await readiness()).every((status) => (status === 200) === ready), {
    timeoutMs: 25_000,
  });

/** Kills Redis and restarts it at the same address with the data that `prepare` leaves in its folder. */
async function replaced(prepare: () => void): Promise<void> {
  await redis.kill('SIGKILL');
  rmSync(data(), { recursive: true, force: true });
  mkdirSync(data());
  prepare();
  await redis.restart();
  await all(false);
}

async function recover(): Promise<{ readonly code: number; readonly text: string }> {
  let text = '';
  const out = { write: (more: string) => void (text += more) };
  const code = await recoverCommand({ loaded: load(), force: false, out, terminal: out, signal: new AbortController().signal });
  return { code, text };
}

/** Run ids of all terminal events on the log. */
async function ends(): Promise<readonly string[]> {
  const opened = (await openLog({ loaded: load(), logger: silentLogger, processId: 'test' }))!;
  const found: string[] = [];
  for await (const { event } of opened.log.read('run.completed')) found.push(event!.runId);
  await opened.close();
  return found.sort();
}

async function whole(runs: ReadonlyMap<string, CommitteeScript>, calls: number): Promise<void> {
  for (const [id, s] of runs) {
    expect(await runEnd(system.url(), id)).toMatchObject({ outcome: 'completed', answer: `Answer of ${s.question}` });
    expect(repeatedFinished(s.calls())).toEqual([]);
    expect(s.calls()).toHaveLength(calls);
    expect(s.unused()).toEqual([]);
  }
  let ended: readonly string[] = [];
  const published = async (): Promise<boolean> => {
    ended = await ends();
    return [...runs.keys()].every((id) => ended.includes(id));
  };
  await until('the terminal events to be published', published, { timeoutMs: 10_000, everyMs: 500 });
  for (const id of runs.keys()) expect(ended.filter((other) => other === id)).toEqual([id]);
}

const text = (s: CommitteeScript): string => `Answer of ${s.question}`;

describe('a state store that was lost', () => {
  it('is rebuilt after Redis came back empty: every run ends once, no finished call is repeated', async () => {
    const [planning, working, composing] = [latch(), latch(), latch()];
    const over = script('over')
      .plan([expert('x1', 'Go.')])
      .expert('Gone.');
    over.answer([text(over)]);
    const planned = script('planning')
      .plan([expert('x1', 'Go.')], { when: planning.opened })
      .expert('Fine.');
    planned.answer([text(planned)]);
    const worked = script('working')
      .plan([expert('x1', 'Go.')])
      .expert('Fine.', { when: working.opened });
    worked.answer([text(worked)]);
    const composed = script('composing')
      .plan([expert('x1', 'Go.')])
      .expert('Fine.');
    composed.answer([{ text: text(composed), when: composing.opened }]);

    const overId = await begin(over);
    await runEnd(system.url(), overId);
    const ids = [await begin(planned), await begin(worked), await begin(composed)] as const;
    await Promise.all([called(planned, 'planner'), called(worked, 'expert'), called(composed, 'composer')]);

    await replaced(() => undefined);
    const calls = system.models.calls.length;
    for (const gate of [planning, working, composing]) gate.open();
    expect((await startRun(system.url(), { model: 'conclave-fast', input: 'Does anybody hear?' })).status).toBe(503);
    await delay(1_500); // only time can show that nothing happens
    expect(system.models.calls).toHaveLength(calls);

    const { code, text: said } = await recover();
    expect(said).toContain('3 open runs');
    expect(said).toContain('1 ended run\n');
    expect(code).toBe(exitCodes.answered);
    await all(true);
    const runs = new Map([
      [overId, over],
      [ids[0], planned],
      [ids[1], worked],
      [ids[2], composed],
    ]);
    await whole(runs, 3);
    expect((await recover()).text).toContain('fits the log');
  }, 60_000);

  it('is rebuilt on an older copy: ended runs stay ended, open runs continue', async () => {
    const [before, after] = [latch(), latch()];
    const first = script('begun before the copy')
      .plan([expert('x1', 'Go.')])
      .expert('Fine.');
    first.answer([{ text: text(first), when: before.opened }]);
    const second = script('begun after the copy')
      .plan([expert('x1', 'Go.')])
      .expert('Fine.');
    second.answer([{ text: text(second), when: after.opened }]);
    const firstId = await begin(first);
    await called(first, 'composer');
    cpSync(data(), join(copies, 'data'), { recursive: true });

    await anotherStart();
    await renewed();
    before.open();
    expect(await runEnd(system.url(), firstId)).toMatchObject({ outcome: 'completed' });
    const secondId = await begin(second);
    await called(second, 'composer');

    await replaced(() => cpSync(join(copies, 'data'), data(), { recursive: true }));
    // A process that starts while the store is red waits for the recovery too.
    await system.process('planner').kill('SIGKILL');
    await all(false);
    after.open();
    const { code, text: said } = await recover();
    expect(said).toContain('1 open run\n');
    expect(code).toBe(exitCodes.answered);
    await all(true);
    await whole(
      new Map([
        [firstId, first],
        [secondId, second],
      ]),
      3,
    );
    expect(await readRun(system.url(), firstId)).toMatchObject({ terminal: true });
  }, 60_000);

  it('restores from a backup what is not on the log: settings and issued keys', async () => {
    const admin = readFileSync(join(system.folder, 'admin.key'), 'utf8').trim();
    const created = await fetch(`${system.url()}/v1/admin/keys`, {
      method: 'POST',
      headers: { 'x-api-key': admin, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'front end' }),
    });
    const { key } = (await created.json()) as { key: string };
    const status = async (): Promise<number> => (await fetch(`${system.url()}/v1/models`, { headers: { 'x-api-key': key } })).status;
    expect(await status()).toBe(200);
    const target = join(copies, 'settings');
    const quiet = { write: () => undefined };
    expect(await backupCommand({ loaded: load, args: ['--to', target], out: quiet, terminal: quiet })).toBe(exitCodes.answered);

    await replaced(() => undefined);
    expect((await recover()).code).toBe(exitCodes.answered);
    await all(true);
    await until('the issued key to be forgotten', async () => (await status()) === 401);

    expect(await restoreCommand({ loaded: load, args: [target], out: quiet, terminal: quiet })).toBe(exitCodes.answered);
    await until('the issued key to be known again', async () => (await status()) === 200);
  }, 60_000);
});

/** Changes the marks of log and store as a starting process does. */
async function anotherStart(): Promise<void> {
  const opened = (await openLog({ loaded: load(), logger: silentLogger, processId: 'test' }))!;
  await claimStores(opened.log, opened.state);
  await opened.close();
}

/** Waits until every process has renewed its lease, and so has seen the generation of another start. */
async function renewed(): Promise<void> {
  const client = new Redis(redis.url);
  // Leases are in the first bucket.
  const leases = `${system.prefix}{0}:leases`;
  const from = Date.now();
  const renewedAt = async (): Promise<readonly number[]> => {
    const found = await client.zrange(leases, '0', '-1', 'WITHSCORES');
    return found.filter((_, n) => n % 2 === 1).map((until) => Number(until) - leaseTtlMs);
  };
  try {
    await until('the leases to be renewed', async () => {
      const times = await renewedAt();
      return times.length >= 5 && times.every((at) => at > from);
    });
  } finally {
    client.disconnect();
  }
}
