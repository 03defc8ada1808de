import { ranMs } from '../budget.js';
import { commandsOf, owing, type Folds } from './changes.js';

export const ofRounds: Folds<'Turn' | 'RoundClosed' | 'Assessed' | 'Decided' | 'QuestionAsked' | 'Finishing' | 'RunEnded'> = {
  Turn: (run) => ({ ...run, owed: run.owed.slice(1) }),
  RoundClosed: (run, { failed, newFacts, epoch, planSummary, findings }) => ({
    ...run,
    round: null,
    rounds: run.rounds + 1,
    failedRounds: failed ? run.failedRounds + 1 : 0,
    roundsWithoutFacts: newFacts > 0 ? 0 : run.roundsWithoutFacts + 1,
    assessed: false,
    history: [...run.history, { iteration: epoch, plan_summary: planSummary, findings, gap: '' }],
  }),
  Assessed: (run, { reading }) => {
    const gap = reading.sufficient === true ? '' : (reading.open ?? '');
    return {
      ...run,
      gap,
      nextFocus: reading.nextFocus ?? (gap === '' ? '' : run.nextFocus),
      failedRounds: reading.invalid ? run.failedRounds + 1 : run.failedRounds,
      assessed: reading.by !== 'rounds' && reading.unread === undefined && reading.unaffordable === undefined,
      history: run.history.map((entry, index) => (index === run.history.length - 1 ? { ...entry, gap } : entry)),
    };
  },
  Decided: (run, { epoch, rule, sentence, at, then }) => {
    const decided = { ...run, decisions: [...run.decisions, { epoch, rule, sentence, at }], adjusted: run.adjusted || rule === 'D7' };
    return then === 'finish' ? decided : owing(decided, { hook: 'decided', then });
  },
  QuestionAsked: (run, { question: text, deadline, calls, at }) => ({
    ...run,
    question: { text, deadline, ...(calls ? { calls } : {}) },
    ran: ranMs(run, at),
    since: null,
  }),
  Finishing: (run, { ending }) => ({ ...run, ending, awaiting: null, owed: commandsOf(run.owed) }),
  RunEnded: (run, { ending, answer, failure, at, openCalls }) => ({
    ...run,
    ...{ ending, answer, failure, openCalls },
    endedAt: at,
    awaiting: null,
    owed: [],
    paused: null,
    question: null,
  }),
};
