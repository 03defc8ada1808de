import { QuestionClass } from '@conclave/strategies';
import { ScriptedModelServer, type ScriptedRequest } from '@conclave/test-support';
import { ask, System, providerKey, readRun, roleOf } from '@conclave/test-support/system';
import { replyOf } from '../routing/committee-replies.js';
import { labelledQuestions, type LabelledQuestion } from './labelled-question.js';

/** Usage of the questions of one class with one template, by the runs' own records: means. */
export interface RouteCosts {
  readonly class: QuestionClass;
  readonly template: string;
  readonly runs: number;
  readonly calls: number;
  readonly tokens: number;
}

const templates = ['conclave-adaptive', 'conclave'] as const;

/** The first questions of the regression half of each class and language. */
const sampleOf = (perClassAndLanguage: number): readonly LabelledQuestion[] =>
  QuestionClass.options.flatMap((named) =>
    (['en', 'de'] as const).flatMap((language) =>
      labelledQuestions
        .filter((question) => question.class === named && question.language === language && question.half === 'regression')
        .slice(0, perClassAndLanguage),
    ),
  );

/** Replies to the roles that the committee does not have. */
const otherReplies: Readonly<Record<string, object>> = {
  decomposer: { topics: ['the usual case', 'the other case'], synthesis: 'compare' },
  topicReader: { facts: [{ fact: 'It depends on the case.', source: 1 }] },
  router: { class: 'exploratory', collections: [] },
  reader: { facts: [{ fact: 'It depends on the case.', source: 1 }] },
  evaluator: { quality: 'sufficient', missing: [] },
};

/** Replies with the labelled class if the router is asked, and answers every other call like a confident committee. */
function reply(request: ScriptedRequest): ReturnType<typeof replyOf> {
  const role = roleOf(request);
  const known = otherReplies[role];
  if (known) return { text: JSON.stringify(known), usage: { prompt_tokens: 200, completion_tokens: 20 } };
  if (role !== 'classifier') return replyOf(request, 'sure');
  const text = JSON.stringify(request.messages);
  const named = labelledQuestions.find((question) => text.includes(JSON.stringify(question.text).slice(1, -1)))?.class ?? 'factual';
  return { text: JSON.stringify({ class: named }), usage: { prompt_tokens: 200, completion_tokens: 8 } };
}

/** Asks the embedded product each question with both shipped templates, one after the other; no cache answers. */
export async function measureRoutes(perClassAndLanguage: number): Promise<readonly RouteCosts[]> {
  const models = await ScriptedModelServer.start({
    models: ['measured'],
    apiKey: providerKey,
    script: [{ name: 'any call', match: () => true, reply, times: Infinity }],
  });
  try {
    const system = await System.start({
      mode: 'embedded',
      demo: true,
      corpus: { 'cases.md': '# Cases\n\nIt depends on the case: the usual case and the other case differ.\n' },
      configuration: {
        providers: { measured: { base_url: models.url, api_key_env: 'FAKE_PROVIDER_KEY', paid: false } },
        models: { 'measured@measured': { context: 32_768 } },
      },
    });
    try {
      const sample = sampleOf(perClassAndLanguage);
      const costs: RouteCosts[] = [];
      for (const named of QuestionClass.options)
        for (const template of templates) {
          const runs: Awaited<ReturnType<typeof usageOf>>[] = [];
          for (const { text } of sample.filter((question) => question.class === named))
            runs.push(await usageOf(system.url(), template, text));
          const mean = (of: (run: (typeof runs)[number]) => number): number => runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
          costs.push({
            class: named,
            template,
            runs: runs.length,
            calls: mean(({ calls }) => calls),
            tokens: mean((run) => run.prompt + run.completion),
          });
        }
      return costs;
    } finally {
      await system.stop();
    }
  } finally {
    await models.close();
  }
}

/** Usage of a run, even of one that found nothing to answer from. */
async function usageOf(url: string, model: string, content: string) {
  const { headers } = await ask(url, { model, messages: [{ role: 'user', content }] }, { 'x-conclave-cache': 'off' });
  const id = headers.get('x-run-id');
  if (id === null) throw new Error(`"${content}" was not accepted by ${model}.`);
  return (await readRun(url, id)).usage.total;
}
