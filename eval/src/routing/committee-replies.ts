import { promptMarks } from '@conclave/contracts';
import type { ScriptedReply, ScriptedRequest } from '@conclave/test-support';
import { roleOf } from '@conclave/test-support/system';

/**
 * How the models of a measured committee behave. `sure`: two experts are planned, both are sure, nothing is missing, the critic confirms.
 * `unsure`: no expert is sure, and every assessment of the answer finds the same gap.
 */
export const moods = ['sure', 'unsure'] as const;
export type Mood = (typeof moods)[number];

const textOf = ({ messages }: ScriptedRequest): string => messages.map(({ content }) => String(content)).join('\n');
const wordsIn = (text: string): number => text.match(/\S+/gu)?.length ?? 0;

/** Two experts in every round; a re-plan asks about another case, because a task that was done before is not repeated. */
const planFor = (request: ScriptedRequest): string => {
  const round = /=== AGENTIC ITERATION (\d+)\//u.exec(textOf(request))?.[1] ?? 'first';
  return JSON.stringify({
    tasks: [
      { id: 'x1', task: `Answer the question for the ${round} case.`, capability: 'expert.general' },
      { id: 'x2', task: `Say what speaks against the usual answer in the ${round} case.`, capability: 'expert.general' },
    ],
  });
};

/** Reply to any call of the committee, by its role. */
function textFor(request: ScriptedRequest, mood: Mood): string {
  const isSure = mood === 'sure';
  const ids = [...textOf(request).matchAll(new RegExp(`${promptMarks.refinement.task} (\\S+)`, 'gu'))].map(([, id]) => id!);
  switch (roleOf(request)) {
    case 'planner':
      return planFor(request);
    case 'waves':
      return JSON.stringify({ status: 'done', action: 'It depends on the case.', tools: [], reasoning: 'There is nothing to look up.' });
    case 'decomposer':
      return JSON.stringify({ topics: ['the usual case', 'the other case'], synthesis: 'merge' });
    case 'reader':
      return JSON.stringify({ facts: [{ fact: 'It depends on the case.', source: 1 }] });
    case 'router':
      return JSON.stringify({ class: 'factual' });
    case 'expert':
      return `It depends on the case.\nFINDING: It depends on the case.\nCONFIDENCE: ${isSure ? 0.9 : 0.3}\nGAPS: ${isSure ? 'none' : 'the case'}\nREFER: none`;
    case 'assessor':
      return isSure
        ? 'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none'
        : 'COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: the case is not known\nNEXT_FOCUS: the case';
    case 'adviser':
      return JSON.stringify({ hints: ids.map((task) => ({ task, hint: 'Name the case.' })) });
    case 'scorer':
      return JSON.stringify({ scores: ids.map((task) => ({ task, a: 0.5, b: 0.5 })) });
    case 'critic':
      return JSON.stringify({ verdict: 'confirmed', reasons: [] });
    case 'learner':
      return '[]';
    case 'thinker':
      return 'CONCLUSION: it depends on the case.';
    case 'composer':
    case 'direct':
      return 'It depends on the case.';
    default:
      throw new Error(`The committee has no ${roleOf(request)}.`);
  }
}

/** A token of these models is a word, counted in the prompt that was really sent. */
export function replyOf(request: ScriptedRequest, mood: Mood): ScriptedReply {
  const text = textFor(request, mood);
  return { text, usage: { prompt_tokens: wordsIn(textOf(request)), completion_tokens: wordsIn(text) } };
}
