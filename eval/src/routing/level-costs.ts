import type { RunView } from '@conclave/contracts';
import { ScriptedModelServer } from '@conclave/test-support';
import { ask, System, providerKey, readRun } from '@conclave/test-support/system';
import { replyOf, type Mood } from './committee-replies.js';
import { labelledPrompts, type LabelledPrompt } from './prompts/labelled-prompt.js';
import { levels, type Level } from './prompts/written.js';

/** Usage of one run of the product, by its own record. */
export interface RunCosts {
  readonly prompt: LabelledPrompt;
  readonly mood: Mood;
  /** The level in the record of the run. */
  readonly level: Level;
  readonly calls: number;
  /** Expert tasks that called a model. */
  readonly experts: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Requests that the model server received before the answer was complete. */
  readonly served: number;
}

const template = 'conclave';

/**
 * The same number of prompts of each level and language, as far apart in the list as possible; without attachments, which need a vision
 * model.
 */
export function sampleOf(perLevelAndLanguage: number): readonly LabelledPrompt[] {
  return levels.flatMap((level) =>
    (['en', 'de'] as const).flatMap((language) => {
      const all = labelledPrompts.filter(
        (prompt) => prompt.level === level && prompt.language === language && !prompt.hasHistory && !prompt.hasAttachments,
      );
      const step = all.length / perLevelAndLanguage;
      return Array.from({ length: perLevelAndLanguage }, (_, n) => all[Math.floor(n * step)]!);
    }),
  );
}

/**
 * Asks the embedded product, in its own process and with its shipped template, each prompt in each mood, one after the other. Each run
 * has its own tenant, so that no cache answers and nothing that an earlier run taught raises a level. Throws if a question is not answered.
 */
export async function measureLevels(prompts: readonly LabelledPrompt[], moods: readonly Mood[]): Promise<readonly RunCosts[]> {
  let mood: Mood = 'sure';
  const runs = moods.flatMap((of) => prompts.map((prompt) => ({ of, prompt })));
  const keyOf = (run: number): string => `sk-run-${run}`;
  const models = await ScriptedModelServer.start({
    models: ['measured'],
    apiKey: providerKey,
    script: [{ name: 'any call', match: () => true, reply: (request) => replyOf(request, mood), times: Infinity }],
  });
  try {
    // Started without custom templates, so that the shipped ones are measured.
    const system = await System.start({
      mode: 'embedded',
      demo: true,
      configuration: {
        providers: { measured: { base_url: models.url, api_key_env: 'FAKE_PROVIDER_KEY', paid: false } },
        models: { 'measured@measured': { context: 32_768 } },
        keys: Object.fromEntries(runs.map((_, run) => [`run${run}`, { key_env: `KEY_OF_RUN_${run}`, tenant: `tenant${run}` }])),
      },
      env: Object.fromEntries(runs.map((_, run) => [`KEY_OF_RUN_${run}`, keyOf(run)])),
    });
    try {
      const costs: RunCosts[] = [];
      for (const [run, { of, prompt }] of runs.entries()) {
        mood = of;
        costs.push(await costsOf(system.url(), models, prompt, mood, keyOf(run)));
      }
      return costs;
    } finally {
      await system.stop();
    }
  } finally {
    await models.close();
  }
}

async function costsOf(url: string, models: ScriptedModelServer, prompt: LabelledPrompt, mood: Mood, key: string): Promise<RunCosts> {
  const authorization = `Bearer ${key}`;
  const before = models.calls.length;
  const body = { model: template, messages: [{ role: 'user', content: prompt.text }] };
  const { status, headers, body: answer } = await ask(url, body, { 'x-conclave-cache': 'off', authorization });
  const served = models.calls.length - before;
  const id = headers.get('x-run-id');
  if (status !== 200 || id === null) throw new Error(`"${prompt.text}" was not answered: ${status} ${JSON.stringify(answer.error)}`);
  const run: RunView = await readRun(url, id, { authorization });
  if (run.complexity === null) throw new Error(`The record of run ${id} contains no level.`);
  const { total, items } = run.usage;
  return {
    ...{ prompt, mood, level: run.complexity, served, calls: total.calls, promptTokens: total.prompt, completionTokens: total.completion },
    experts: items.filter(({ capability, usage }) => capability.startsWith('expert.') && usage.calls > 0).length,
  };
}
