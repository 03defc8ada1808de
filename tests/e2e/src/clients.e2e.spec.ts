// Clients of others against the running program. RECORD_CLIENTS=1 writes down what they found; `npm run docs` prints it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { plainTemplate, System, testedMode } from '@conclave/test-support/system';
import { installClients, keepResult, keptResults, runClient, scriptCapableModel, upstreamIssueOf } from './harness/client-program.js';
import { keys, keySettings, keyVariables } from './scenarios/callers.js';

const answers = { ...plainTemplate, strategy: 'single-pass', capabilities: [], experts: { general: { t1: ['scripted@fake'] } } } as const;

let system: System;
beforeAll(async () => {
  await installClients();
  system = await System.start({
    configuration: { keys: keySettings, templates: { passes: { ...answers, client_tools: 'pass_through' } } },
    env: keyVariables,
  });
  scriptCapableModel(system.models);
}, 300_000);
afterAll(() => system?.stop());

describe('third-party clients', () => {
  it.each(['openai-node', 'anthropic-sdk', 'ai-sdk', 'langchain-js', 'compatcanary'])(
    '%s does what the page of clients says',
    async (file) => {
      const result = await runClient(`${file}.mjs`, system.url(), keys.ann);
      if (process.env['RECORD_CLIENTS']) keepResult(result, testedMode());
      const { client, version, failures } = result;
      // The model speaks without end in them.
      const endless = system.models.calls.filter(({ messages }) => JSON.stringify(messages).includes('[endless]'));
      if ('abort' in failures) expect(endless.length).toBeGreaterThan(0);
      await until('the end of aborted calls', () => endless.every(({ abortedAt }) => abortedAt !== null), { timeoutMs: 20_000 });
      const unexplained = Object.entries(failures).filter(([name, reason]) => reason !== null && !upstreamIssueOf(client, name));
      expect(unexplained).toEqual([]);
      const kept = keptResults()[client];
      expect(kept?.version).toBe(version);
      const found = Object.entries(failures).map(([name, reason]) => [name, reason === null ? 'passes' : 'fails']);
      expect(Object.entries(kept!.capabilities).map(([name, modes]) => [name, modes[testedMode()]])).toEqual(found);
    },
    150_000,
  );
});
