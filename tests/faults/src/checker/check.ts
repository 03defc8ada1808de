import type { Bounds, Evidence, Figures, Finding } from '../evidence/evidence.js';
import { checkAnswers } from './answers.js';
import { checkAppends } from './appends.js';
import { checkCalm } from './calm.js';
import { checkCalls, tokensWasted } from './calls.js';
import { Case } from './case.js';
import { checkCommits } from './commits.js';
import { checkDeleted, withoutDeleted } from './deleted.js';
import { checkEnough, successOf } from './enough.js';
import { checkOutcomes } from './outcomes.js';
import { checkOwnPromise } from './own-promise.js';
import { checkReplay } from './replays.js';
import { checkStreams } from './streams.js';
import { checkTerminalEvents } from './terminal-events.js';
import { checkWebhooks } from './webhooks.js';

/** The verdict of the checker on a scenario. No findings: every promise was kept in it. */
export interface Verdict {
  readonly findings: readonly Finding[];
  readonly figures: Figures;
}

/** Judges the evidence of a scenario. Pure: the same evidence always returns the same verdict. */
export function check(evidence: Evidence, bounds: Bounds): Verdict {
  const whole = new Case(evidence, bounds);
  const of = new Case(withoutDeleted(evidence), bounds);
  const success = successOf(of);
  const calls = checkCalls(of);
  const findings = [
    ...checkTerminalEvents(of),
    ...checkAppends(whole),
    ...checkOutcomes(of),
    ...checkCommits(of),
    ...checkStreams(of),
    ...calls.findings,
    ...checkReplay(of),
    ...checkCalm(of),
    ...checkDeleted(of),
    ...checkWebhooks(of),
    ...checkAnswers(of),
    ...checkOwnPromise(of),
    ...checkEnough(of, success),
  ];
  return {
    findings: distinct(findings),
    figures: {
      accepted: success.accepted.size,
      answered: success.answered.size,
      deaths: deathsIn(evidence),
      duplicateCalls: calls.duplicates,
      tokensWasted: tokensWasted(of),
    },
  };
}

/** Processes that were killed, and those that ended because of a failure; an orderly end and a freeze are not deaths. */
const deathsIn = ({ deaths, history }: Evidence): number =>
  deaths.filter(({ signal }) => signal !== null && signal !== 'SIGSTOP' && signal !== 'SIGTERM').length +
  history.filter(({ op, phase }) => op === 'process' && phase === 'failed').length;

/** A repeat on the log, or a second viewer, leads to the same finding again. */
const distinct = (findings: readonly Finding[]): readonly Finding[] => [
  ...new Map(findings.map((finding) => [`${finding.check} ${finding.id} ${finding.sentence}`, finding])).values(),
];
