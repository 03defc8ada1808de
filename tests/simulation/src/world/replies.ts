import { promptMarks as marks } from '@conclave/contracts';
import type { ModelCall } from '@conclave/ports';
import type { Features } from '../faults/features.js';
import type { Random } from '../faults/random.js';

/** A call, and the mark that its reply leaves in every text. */
export interface MarkedCall extends ModelCall {
  readonly mark: string;
}

const textOf = (request: ModelCall): string => request.messages.map(({ content }) => content).join('\n');
/** Every simulated question contains `topic <word>`. */
export const topicOf = (text: string): string => /topic (\w+)/.exec(text)?.[1] ?? 'none';

const words = ['amber', 'basalt', 'cedar', 'delta', 'ember', 'fjord', 'garnet', 'harbor'];
const word = (n: number): string => words[n % words.length]!;

/** What a model replies in each of the roles that prompts name. */
export function replyTo(request: MarkedCall, number: number, features: Features, random: Random): string {
  const text = textOf(request);
  const topic = topicOf(text);
  const { roles } = marks;
  const { mark } = request;
  if (text.includes(roles.planner)) return planOf(text, topic, number, features, random);
  if (text.includes(roles.decomposer)) return topicsOf(text, number);
  if (text.includes(roles.topicReader))
    return JSON.stringify({ facts: [{ fact: `fact ${number} of ${subjectOf(text)} ${mark}`, source: 1 }] });
  if (text.includes(roles.waves)) return waveOf(text, topic, number, random);
  if (text.includes(roles.assessor)) {
    const hops = Number(/hops (\d+)/.exec(text)?.[1] ?? 0);
    const known = new Set([...text.matchAll(/fact of hop(\d+)/g)].map(([, hop]) => hop)).size;
    if (known > hops) return 'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none';
    return `COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: hop ${known} of ${topic} (${number})\nNEXT_FOCUS: ${word(known)}`;
  }
  if (text.includes(roles.composer)) {
    const insight = { summary: `What is known of ${topic}: ${number} ${mark}`, entities: [topic], insight_type: 'inference' };
    return `The answer to ${topic} is told for the ${number}th time, in many words ${mark} [1].${marks.insight.open}${JSON.stringify(insight)}${marks.insight.close}`;
  }
  if (text.includes(roles.thinker)) return `CONCLUSION: it is thought through (${number} ${mark}).`;
  if (text.includes(roles.adviser))
    return JSON.stringify({ hints: tasksIn(text).map((task) => ({ task, hint: `Be exact (${number}).` })) });
  if (text.includes(roles.scorer))
    return JSON.stringify({ scores: tasksIn(text).map((task) => ({ task, a: random.below(10) / 10, b: random.below(10) / 10 })) });
  if (text.includes(roles.critic)) {
    const answer = `The critic wrote this of ${topic} for the ${number}th time, ${mark}.`;
    return JSON.stringify(
      random.chance(0.5) ? { verdict: 'confirmed', reasons: [] } : { verdict: 'corrected', reasons: ['wrong'], answer },
    );
  }
  const confidence = features.tiers || features.refineRounds > 0 ? random.between(2, 9) / 10 : 0.6;
  return `It is ${number} ${mark}.\nFINDING: the expert found ${number} about ${topic} ${mark}\nCONFIDENCE: ${confidence}\nGAPS: none\nREFER: none`;
}

const tasksIn = (text: string): readonly string[] => [...text.matchAll(/TASK-ID: (\S+)/g)].map(([, task]) => task!);

function planOf(text: string, topic: string, number: number, { tools, documents, graph, critic }: Features, random: Random): string {
  const iteration = Number(/=== AGENTIC ITERATION (\d+)\//.exec(text)?.[1] ?? 0);
  const tool = {
    id: 't1',
    task: `use the desk (${number})`,
    capability: 'mcp',
    mcp_tool: toolOf(random),
    mcp_args: { item: `${topic} ${number}` },
  };
  const shelf = { id: 'c1', task: `look for ${topic}`, capability: 'collections', search_query: `topic ${topic} ${word(number)}` };
  return JSON.stringify({
    tasks: [
      { id: 'r1', task: `find ${topic}`, capability: 'research', search_query: `${topic} hop${iteration} ${word(iteration)}` },
      ...(tools ? [tool] : []),
      ...(documents ? [shelf] : []),
      // The planner adds one only if the graph has content, which is rare in a world with few runs.
      ...(documents && graph ? [{ id: 'g1', task: `what is known of ${topic}`, capability: 'graph', search_query: `topic ${topic}` }] : []),
      { id: 'x1', task: `answer ${topic} after ${word(iteration)}`, capability: critic ? 'expert.legal_advisor' : 'expert.general' },
    ],
  });
}

/** What the question is about; the prompts of sub-topics use the word "topic" themselves. */
const subjectOf = (text: string): string => /topic (t[a-z]q)/.exec(text)?.[1] ?? 'none';

/** Two sub-topics for a client's question and one for each part, so that a tree of runs does not grow wider with its depth. */
function topicsOf(text: string, number: number): string {
  const question = text.slice(text.lastIndexOf(marks.question));
  const subject = subjectOf(question);
  const parts = /, part \d/.test(question) ? [number] : [number, number + 1];
  return JSON.stringify({
    topics: parts.map((n) => ({ topic: `part ${n} of ${subject}`, query: `What is topic ${subject}, part ${n}?`, collections: [] })),
    synthesis: 'merge',
  });
}

const toolOf = (random: Random): string => random.pick(['desk.count', 'desk.order']);

/** The next wave: one to three calls, sometimes with two equal ones or one that is not offered; done if its question has no more hops. */
function waveOf(text: string, topic: string, number: number, random: Random): string {
  const wave = Number(/This is wave (\d+) of/.exec(text)?.[1] ?? 1);
  const hops = Number(/hops (\d+)/.exec(text)?.[1] ?? 0);
  const calls = Array.from({ length: random.between(1, 3) }, (_, n) => ({
    id: `w${wave}.${n}`,
    tool: random.chance(0.1) ? 'desk.gone' : toolOf(random),
    args: { item: `${topic} ${number} ${random.chance(0.3) ? 0 : n}` },
    needs: [],
  }));
  const isOver = wave > hops && random.chance(0.5);
  return JSON.stringify({
    status: wave > hops ? 'done' : 'continue',
    action: `wave ${wave} about ${topic}`,
    slots: {},
    tools: isOver ? [] : calls,
    reasoning: `for the ${number}th time`,
  });
}
