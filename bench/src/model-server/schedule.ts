import { promptMarks as marks } from '@conclave/contracts';
import type { Message } from '../committee/replies.js';

export type ScriptedRole = 'planner' | 'expert' | 'composer' | 'direct';

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
  return text.includes(marks.roles.expert('general')) ? 'expert' : 'direct';
}

/** Replies of calls that are not streamed to the client; streamed ones consist of stamped tokens. */
export const wholeReply = {
  planner: JSON.stringify({ tasks: [{ id: 'x1', task: 'answer the question', capability: 'expert.general', needs: [] }] }),
  expert: 'The answer is known.\nFINDING: The answer is known.\nCONFIDENCE: 0.6\nGAPS: none\nREFER: none',
} as const;
