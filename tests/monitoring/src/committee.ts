import { inventedName, plainTemplate, roleOf } from '@conclave/test-support/system';
import { ScriptedModelServer, type ScriptedReply, type ScriptedRequest } from '@conclave/test-support';

/** Words of a question that determine what the scripted models do. */
export const wants = {
  secondTier: 'unsure',
  replan: 'incomplete',
  failure: 'unanswerable',
  slow: 'slowly',
  simple: 'simply',
} as const;

const usage = { prompt_tokens: 400, completion_tokens: 60 };
const textOf = ({ messages }: ScriptedRequest): string => JSON.stringify(messages);
const says = (text: string, words = false): ScriptedReply => ({ text, words, usage });

const plan = {
  tasks: [
    { id: 'r1', task: 'Search it', capability: 'research', search_query: 'lighthouse keepers' },
    { id: 'g1', task: 'Recall it', capability: 'graph' },
    { id: 'c1', task: 'Look it up', capability: 'collections', search_query: 'harbour dues' },
    { id: 'm1', task: 'Calculate', capability: 'mcp', mcp_tool: 'precision.calculate', mcp_args: { expression: '6*7' } },
    { id: 'x1', task: 'Answer it', capability: 'expert.general', needs: ['r1'] },
  ],
};

/** Questions whose evidence was judged incomplete once. */
const replanned = new Set<string>();

/** The reply to any call of any run, by the role of its prompt and by the words of its question. */
function reply(request: ScriptedRequest): ScriptedReply {
  const text = textOf(request);
  const role = roleOf(request);
  switch (role) {
    case 'planner':
      return says(
        JSON.stringify(
          text.includes('AGENTIC ITERATION') || text.includes(wants.simple) ? { tasks: [{ ...plan.tasks[4], needs: [] }] } : plan,
        ),
      );
    case 'expert': {
      if (text.includes(wants.failure)) return { status: 400, body: { error: { message: 'This prompt is refused.' } } };
      const sure = !text.includes(wants.secondTier) || request.model === 'other';
      return says(`Gannet Rock.\nFINDING: Gannet Rock.\nCONFIDENCE: ${sure ? 0.9 : 0.2}\nGAPS: none\nREFER: none`);
    }
    case 'assessor': {
      const question = /question \d+/.exec(text)?.[0] ?? '';
      const again = text.includes(wants.replan) && !replanned.has(question);
      if (again) replanned.add(question);
      return says(
        again
          ? 'COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: the year\nNEXT_FOCUS: When was it lit?'
          : 'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none',
      );
    }
    case 'composer':
      if (text.includes(wants.slow))
        return { chunks: Array.from({ length: 12 }, (_, n) => ({ text: `Word ${n}. `, afterMs: 250 })), usage };
      return says('The lamp of Gannet Rock was lit in 1871 [1].', true);
    case 'critic':
      return says(JSON.stringify({ verdict: 'confirmed', reasons: [] }));
    case 'learner':
      return says(JSON.stringify({ triples: [] }));
    default:
      return says('Forty-two.', true);
  }
}

/** Answers every call of the load. */
export const answerAll = (models: ScriptedModelServer): void => models.add({ match: () => true, reply, times: Infinity });

const template = {
  ...plainTemplate,
  capabilities: ['research', 'graph', 'collections', 'mcp'],
  critic: ['general'],
  experts: { general: { t1: ['scripted@fake'], t2: ['other@fake'] } },
  caches: { answer: true, semantic: true, plan: true, search: true },
  learn: 'triples',
};

export const corpus = {
  'lighthouses.md': `# Lighthouses\n\nThe lighthouse keepers of ${inventedName()} lit the lamp of Gannet Rock in 1871.\n`,
};

/**
 * Two providers in addition to the one of every system under test: one that is closed later, and one whose breaker opens under the load.
 */
export interface Providers {
  readonly sick: ScriptedModelServer;
  readonly flaky: ScriptedModelServer;
}

export async function startProviders(): Promise<Providers & { close(): Promise<void> }> {
  const sick = await ScriptedModelServer.start({ models: ['m'] });
  answerAll(sick);
  const flaky = await ScriptedModelServer.start({ models: ['m'] });
  // 501 is not repeated within one call.
  flaky.add({ match: () => true, reply: { status: 501, body: { error: { message: 'out of order' } } }, times: 8 });
  answerAll(flaky);
  return { sick, flaky, close: async () => void (await Promise.all([sick.close(), flaky.close()])) };
}

/** conclave.yaml of a system under this load; `own` is the address of its scripted models. */
export const configurationFor = ({ sick, flaky }: Providers, own: string): Record<string, unknown> => ({
  providers: {
    fake: { base_url: own, api_key_env: 'FAKE_PROVIDER_KEY', max_concurrency: 16, paid: false, breaker: { open_s: 1 } },
    sick: { base_url: sick.url, paid: false, breaker: { open_s: 60 } },
    flaky: { base_url: flaky.url, paid: false, breaker: { open_s: 2 } },
  },
  models: Object.fromEntries(['scripted@fake', 'other@fake'].map((model) => [model, { context: 32_768, price: { input: 1, output: 4 } }])),
  templates: {
    // Only experts: the run fails without one, and a change of documents does not make a cached answer outdated.
    simple: { ...template, strategy: 'single-pass', capabilities: [], critic: [], gap_check: 'answer' },
    whole: { ...template, strategy: 'agentic', max_agentic_rounds: 2, gap_check: 'evidence' },
  },
  mcp: { precision: { enabled: true } },
  store_prompts: 'hash',
});
