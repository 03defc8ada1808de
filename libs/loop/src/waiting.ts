import { defaultTimeouts, type ClientToolsAsked } from '@conclave/contracts';
import { callsAsked } from './client-tools.js';
import type { Turning } from './turning.js';

/** Until when a question that is asked now may be answered. */
export const answerDeadline = ({ run, now }: Turning): number =>
  now + (run.request.template.answer_timeout_s ?? defaultTimeouts.answer_timeout_s) * 1000;

/** Makes the run wait for an answer from its user. */
export function awaitUser(turning: Turning, question: string): void {
  turning.put({ kind: 'QuestionAsked', question, at: turning.now, deadline: answerDeadline(turning) });
}

/** Makes the run wait for the results of the client's tools, if one was called. */
export function awaitClientTools(turning: Turning, asked: ClientToolsAsked): void {
  if (asked.calls.length === 0) return;
  const calls = asked.calls.map(({ id, name }) => ({ id, name }));
  turning.put({ kind: 'QuestionAsked', question: callsAsked(asked), at: turning.now, deadline: answerDeadline(turning), calls });
}
