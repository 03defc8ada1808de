import { promptMarks as marks } from '@conclave/contracts';
import type { Message } from '../committee/replies.js';

export type ScriptedRole = 'planner' | 'expert' | 'composer' | 'decomposer' | 'topicReader' | 'direct';

/** How the fake model answers: fixed latencies in milliseconds. */
export interface Schedule {
  /** From the request to the first token. */
  readonly firstTokenMs: number;
  /** Between two tokens. */
  readonly gapMs: number;
  /** Tokens of a streamed answer. */
  readonly tokens: number;
  /** A role whose calls send their first token and then hang. */
  readonly hang: ScriptedRole | null;
}

/** The role of a prompt in the run; other prompts are direct calls. */
export function scriptedRole(messages: readonly Message[]): ScriptedRole {
  const text = messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => content)
    .join('\n');
  if (text.includes(marks.roles.planner)) return 'planner';
  if (text.includes(marks.roles.composer)) return 'composer';
  if (text.includes(marks.roles.decomposer)) return 'decomposer';
  if (text.includes(marks.roles.topicReader)) return 'topicReader';
  return text.includes(marks.roles.expert('general')) ? 'expert' : 'direct';
}

/** Names into which a question is split, each of which is the title of a document. */
export const subTopics = ['Marvane', 'Tollick', 'Ruseth', 'Ondrell'] as const;

/** Replies of calls that are not streamed to the client; streamed ones consist of stamped tokens. */
export const wholeReply = {
  planner: JSON.stringify({ tasks: [{ id: 'x1', task: 'answer the question', capability: 'expert.general', needs: [] }] }),
  expert: 'The answer is known.\nFINDING: The answer is known.\nCONFIDENCE: 0.6\nGAPS: none\nREFER: none',
  decomposer: JSON.stringify({
    topics: subTopics.map((topic) => ({ topic, query: `pigment ${topic}`, collections: [] })),
    synthesis: 'merge',
  }),
  topicReader: JSON.stringify({ facts: [{ fact: 'It is ground from stone.', source: 1 }] }),
} as const satisfies Partial<Record<ScriptedRole, string>>;

/** Answer of a call that is not streamed, sent at once: about 1 KB. */
export const unstreamedAnswer = 'The sea is wide, and deep, and cold. '.repeat(27);
