import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunErasedView } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import {
  ask,
  CommitteeScript,
  expert,
  keptText,
  plainTemplate,
  System,
  testedMode,
  user,
  workspaceRoot,
} from '@conclave/test-support/system';

const canary = 'xylophonequince';
const deleted = async (system: System, id: string): Promise<{ readonly status: number; readonly body: RunErasedView }> => {
  const response = await fetch(`${system.url()}/v1/runs/${id}`, { method: 'DELETE' });
  return { status: response.status, body: (await response.json()) as RunErasedView };
};

describe('deleting a run', () => {
  let system: System;
  beforeAll(async () => {
    const caches = { answer: true, semantic: true, plan: true, search: true };
    system = await System.start({
      // In embedded mode, the log is in the data folder and is not sealed.
      env: { CONCLAVE_SEAL_KEY: randomBytes(32).toString('base64') },
      configuration: { templates: { remembers: { ...plainTemplate, strategy: 'single-pass', caches } } },
    });
  });
  afterAll(() => system?.stop());

  it('leaves no word of it in the stores, and the next equal question is answered again', async () => {
    const question = `Where does the ${canary} live?`;
    const s = new CommitteeScript(system.models, question)
      .plan([expert('x1', `Say where the ${canary} lives.`)], { times: Infinity })
      .expertReply({ text: `The ${canary} lives here.\nCONFIDENCE: 0.9` }, undefined, Infinity);
    const body = { model: 'remembers', messages: [{ role: 'system', content: `Speak of the ${canary}. `.repeat(20) }, ...user(question)] };
    const first = await ask(system.url(), body);
    expect(first.status).toBe(200);
    const id = first.headers.get('x-run-id')!;
    // Learning from the run has ended when its answer comes from the cache.
    const runs = [id];
    await until(
      'the answer in the cache',
      async () => {
        const { headers } = await ask(system.url(), body);
        runs.push(headers.get('x-run-id')!);
        return headers.get('x-conclave-cache') === 'exact';
      },
      { timeoutMs: 30_000, everyMs: 100 },
    );
    expect(await keptText(system)).toContain(canary);
    for (const run of runs) {
      const { status, body: said } = await until('the end of the run', async () => {
        const reply = await deleted(system, run);
        return reply.status !== 409 && reply;
      });
      expect([status, said.log, said.gone_by]).toEqual([200, 'gone', null]);
    }
    expect((await fetch(`${system.url()}/v1/runs/${id}`)).status).toBe(410);
    expect(await keptText(system)).not.toContain(canary);
    const calls = s.calls().length;
    const again = await ask(system.url(), body);
    expect([again.status, again.headers.get('x-conclave-cache')]).toEqual([200, null]);
    expect(s.calls().length).toBeGreaterThan(calls);
  });
});

describe('a run under store_prompts: none', () => {
  const key = { CONCLAVE_SEAL_KEY: randomBytes(32).toString('base64') };
  let system: System;
  beforeAll(async () => {
    const configuration = { store_prompts: 'none', templates: { plain: { ...plainTemplate, strategy: 'single-pass' } } };
    system = await System.start({ env: key, configuration });
  });
  afterAll(() => system?.stop());

  /** Read by a process of its own, which has not read any key yet. */
  const timeline = (run: string): Promise<string> =>
    promisify(execFile)(process.execPath, [join(workspaceRoot, 'dist/standalone.js'), 'replay', run], {
      env: { ...process.env, ...system.environment(), ...key },
      timeout: 60_000,
    }).then(
      ({ stdout }) => stdout,
      (error: { readonly stdout: string }) => error.stdout,
    );

  it('leaves no readable record on a sealed log, but its view in the store', async () => {
    const question = `Where does the ${canary} live?`;
    new CommitteeScript(system.models, question)
      .plan([expert('x1', `Say where the ${canary} lives.`)], { times: Infinity })
      .expertReply({ text: `The ${canary} lives here.\nCONFIDENCE: 0.9` }, undefined, Infinity);
    const reply = await ask(system.url(), { model: 'plain', messages: user(question) });
    expect(reply.status).toBe(200);
    const id = reply.headers.get('x-run-id')!;
    // The embedded log is in one file with its store and is not sealed.
    const isSealed = testedMode() === 'distributed';
    const lines = await until(
      'the timeline',
      async () => {
        const read = await timeline(id);
        return (!isSealed || read.includes('erased:')) && read;
      },
      { timeoutMs: 60_000, everyMs: 500 },
    );
    expect(lines.includes('erased:')).toBe(isSealed);
    expect(await (await fetch(`${system.url()}/v1/runs/${id}`)).text()).toContain(canary);
  });
});
