import type { Finding } from '../evidence/evidence.js';
import { questionPattern, rightAnswer } from '../questions.js';
import { findingOf, type Case } from './case.js';
import { terminalEvents } from './terminal-events.js';

const finding = findingOf('right-answer');

/**
 * Check 11: a run that ended `completed` gives the whole answer that the fake committee has for its question, also a child run. Questions of
 * others than the clients of a load are not judged, and runs that ended early may answer with what they had.
 */
export function checkAnswers(of: Case): readonly Finding[] {
  const goals = new Map(of.events('PlanRequested').map(({ runId, data }) => [runId, data.goal]));
  return [...terminalEvents(of)].flatMap(([runId, { data }]) => {
    const question = questionPattern.exec(goals.get(runId) ?? '')?.[0];
    if (question === undefined || data.outcome !== 'completed' || data.answer === null) return [];
    // It says that no model wrote it.
    if (data.reasonCode === 'composer_failed') return [];
    if (data.answer.includes(rightAnswer(question))) return [];
    return [finding(runId, `It was asked "${question}" and answered "${data.answer.slice(0, 120)}".`)];
  });
}
