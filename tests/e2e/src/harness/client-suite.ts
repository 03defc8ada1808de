// Third-party clients against the running program. RECORD_CLIENTS=1 stores what they found; `npm run docs` prints it.
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { freePorts } from '@conclave/test-support/real-servers';
import { plainTemplate, System, testedMode } from '@conclave/test-support/system';
import { type ClientResult, keepResult, keptResults, runClient, runtimes, scriptCapableModel, upstreamIssueOf } from './client-program.js';
import { tokenTable } from './token-table.js';
import { keys, keySettings, keyVariables } from '../scenarios/callers.js';

const answers = { ...plainTemplate, strategy: 'single-pass', capabilities: [], experts: { general: { t1: ['scripted@fake'] } } } as const;

/**
 * Tests of programs of `tests/clients`, each of which is run once; every capability on the page of clients is a test of its own.
 * @param programs file -> name of the client on that page
 * @param pauseMs between the words that the model streams
 */
export function describeClients(runtime: keyof typeof runtimes, programs: Readonly<Record<string, string>>, pauseMs = 0): void {
  let system: System;
  let program: string;
  /** Where a program serves its own page, which sends requests from another origin. */
  let page: number;
  let tokens: string;
  beforeAll(async () => {
    program = await runtimes[runtime]();
    tokens = tokenTable();
    [page] = (await freePorts(1)) as [number];
    system = await System.start({
      configuration: {
        cors_origins: [`http://127.0.0.1:${page}`],
        keys: keySettings,
        templates: { passes: { ...answers, client_tools: 'pass_through' }, asks: { ...answers, client_tools: 'ask_first' } },
      },
      env: keyVariables,
    });
    scriptCapableModel(system.models, pauseMs);
  }, 700_000);
  afterAll(async () => {
    await system?.stop();
    rmSync(tokens, { recursive: true });
  });

  describe.each(Object.entries(programs))('%s: %s', (file, client) => {
    const mode = testedMode();
    let found: ClientResult;
    beforeAll(async () => {
      found = await runClient(program, file, {
        ...{ CLIENT_ADDRESS: system.url(), CLIENT_KEY: keys.ann, CLIENT_PAGE_PORT: String(page) },
        TIKTOKEN_CACHE_DIR: tokens,
      });
      if (process.env['RECORD_CLIENTS']) keepResult(found, mode);
    }, 310_000);

    it('is tried in the version and with the capabilities that the page of clients names', () => {
      const kept = keptResults()[client];
      expect([found.client, found.version, Object.keys(found.failures)]).toEqual([
        client,
        kept?.version,
        Object.keys(kept?.capabilities ?? {}),
      ]);
    });

    for (const capability of Object.keys(keptResults()[client]?.capabilities ?? {}))
      it(capability, async () => {
        const reason = found.failures[capability];
        if (capability === 'abort') {
          // The model sends it a stream without end.
          const endless = system.models.calls.filter(({ messages }) => JSON.stringify(messages).includes('[endless]'));
          expect(endless.length).toBeGreaterThan(0);
          await until('the end of aborted calls', () => endless.every(({ abortedAt }) => abortedAt !== null), { timeoutMs: 20_000 });
        }
        if (!upstreamIssueOf(client, capability)) expect(reason).toBeNull();
        expect(keptResults()[client]!.capabilities[capability]![mode]).toBe(reason === null ? 'passes' : 'fails');
      });
  });
}
