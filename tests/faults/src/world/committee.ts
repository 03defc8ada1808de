import { promptMarks } from '@conclave/contracts';
import type { ScriptedChunk, ScriptedReply, ScriptedRequest, ScriptedStep } from '@conclave/test-support';
import { expert, price, research, roleOf, type Task, type TwoHops } from '@conclave/test-support/system';
import { questionPattern, rightAnswer } from '../questions.js';

type Worker = 'planner' | 'expert' | 'assessor' | 'composer' | 'learner' | 'decomposer';

/** How the fake committee behaves; may be changed while it works. */
export interface Manners {
  /** Milliseconds each role takes before its first word. */
  readonly delayMs: Partial<Record<Worker, number>>;
  /** Milliseconds between the words of an answer. */
  readonly wordMs: number;
  /** Overrides the reply of a call: a fault of the model. Null = as usual. */
  readonly instead: (role: Worker, question: string, request: ScriptedRequest) => ScriptedReply | null;
}
export const goodManners: Manners = { delayMs: {}, wordMs: 5, instead: () => null };

const textOf = ({ messages }: ScriptedRequest): string => messages.map(({ content }) => String(content)).join('\n');

/** Questions contain what the committee needs to answer them, so that one script serves any number of runs. */
export const loadQuestion = (name: string, rounds: 1 | 2, hops: TwoHops): string =>
  rounds === 2 ? `Load question ${name} in two rounds about ${hops.thing}?` : `Load question ${name}?`;

/** A mark in the question of a child run, after the name that it shares with the question of its parent. */
export const childQuestionMark = '-part-';
/** Questions of the child runs of a run with this question. */
export const childQuestions = (question: string): readonly string[] =>
  [1, 2].map((n) => question.replace('?', `${childQuestionMark}${n}?`));

/**
 * Steps for every role, any number of times. A call that is not about a load question is not answered: the server counts it as a violation.
 */
export function committee(manners: () => Manners, hops: TwoHops): readonly ScriptedStep[] {
  /** Questions that were composed before: a repeat gets other words, so that two attempts can be distinguished. */
  const composed = new Set<string>();
  const roles: readonly Worker[] = ['planner', 'expert', 'assessor', 'composer', 'learner', 'decomposer'];
  return roles.map((role) => ({
    name: `load ${role}`,
    times: Infinity,
    match: (request) => roleOf(request) === role && questionPattern.test(textOf(request)),
    reply: (request) => {
      const question = questionPattern.exec(textOf(request))![0];
      const { delayMs, wordMs, instead } = manners();
      const special = instead(role, question, request);
      if (special) return special;
      const answer = composed.has(question) ? `Once more: ${rightAnswer(question)}` : rightAnswer(question);
      if (role === 'composer') composed.add(question);
      const words = role === 'composer' ? answer.split(/(?<= )/) : [replyOf(role, question, request, hops)];
      const chunks: ScriptedChunk[] = words.map((text, index) => ({ text, afterMs: index === 0 ? (delayMs[role] ?? 0) : wordMs }));
      return { chunks, usage: price[role] };
    },
  }));
}

function replyOf(role: Exclude<Worker, 'composer'>, question: string, request: ScriptedRequest, hops: TwoHops): string {
  const iteration = Number(/=== AGENTIC ITERATION (\d+)\//.exec(textOf(request))?.[1] ?? 0);
  switch (role) {
    case 'planner':
      return JSON.stringify({ tasks: planOf(question, iteration, hops) });
    case 'expert':
      return `It is so: ${question}\nFINDING: It is so.\nCONFIDENCE: 0.6\nGAPS: none\nREFER: none`;
    case 'decomposer': {
      return JSON.stringify({
        topics: childQuestions(question).map((part) => ({ topic: part, query: part, collections: [] })),
        synthesis: 'merge',
      });
    }
    case 'learner':
      return JSON.stringify([
        { subject: question, subject_type: 'question', relation: 'PART_OF', object: hops.thing, object_type: 'thing' },
      ]);
    case 'assessor':
      return question.includes('two rounds') && !textOf(request).includes(hops.place)
        ? `${promptMarks.gapCheck.status} ${promptMarks.gapCheck.needsMore}\nGAP: where ${hops.person} was born\nNEXT_FOCUS: ${hops.person}`
        : `${promptMarks.gapCheck.status} ${promptMarks.gapCheck.complete}\nGAP: none\nNEXT_FOCUS: none`;
  }
}

function planOf(question: string, iteration: number, hops: TwoHops): readonly Task[] {
  if (question.includes('tool-called'))
    return [
      { id: 't1', task: 'Six times seven', capability: 'mcp', mcp_tool: 'precision.calculate', mcp_args: { expression: '6 * 7' } },
      expert('x1', `What becomes of ${question}`),
    ];
  if (!question.includes('two rounds')) return [expert('x1', `First half of ${question}`), expert('x2', `Second half of ${question}`)];
  return iteration === 0
    ? [research('r1', `${hops.thing} founded`), expert('x1', `What is known of ${question}`)]
    : [research('r1', `${hops.person} born`), expert('x1', `What is new of ${question}`)];
}
