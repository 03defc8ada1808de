import { noUsage, type Fact, type FactOf, type PlanRequested } from '@conclave/contracts';
import type { RunState } from './state.js';

/** The beginning of a run without asking its strategy, which alone knows its number of rounds. */
export const bareStart = (request: PlanRequested['data'], at: number): FactOf<'RunStarted'> => ({
  kind: 'RunStarted',
  at,
  strategy: request.template.strategy,
  maxRounds: 1,
  request,
});

/** Documents of the request as the first facts, so that they have the numbers under which the client knows them. */
const quotedFacts = ({ documents = [] }: PlanRequested['data']): Fact[] =>
  documents.map(({ title, url, text, listed }) => ({
    text,
    source: { kind: 'request', title, url, ...(listed ? { listed } : {}) },
    taskId: 'request',
    epoch: 0,
    confidence: 1,
  }));

/** The state of a run that has only begun. */
export const begun = ({ at, strategy, request }: FactOf<'RunStarted'>): RunState => ({
  runId: '',
  request,
  strategy,
  own: null,
  epoch: 0,
  plan: null,
  awaiting: null,
  planned: 0,
  taken: -1,
  plans: [],
  keptPlan: null,
  tasks: {},
  round: null,
  factsBefore: 0,
  memory: { goal: request.goal, searchQuestion: null, facts: quotedFacts(request), tried: [], userInputs: [] },
  history: [],
  decisions: [],
  rounds: 0,
  failedRounds: 0,
  roundsWithoutFacts: 0,
  adjusted: false,
  replans: 0,
  gap: '',
  nextFocus: '',
  assessed: false,
  spent: request.clientTools?.usage ?? noUsage,
  ran: 0,
  since: request.requestedAt,
  paused: null,
  question: null,
  commands: [],
  pauseSeq: 0,
  live: null,
  owed: [],
  ending: null,
  answer: null,
  failure: null,
  endedAt: null,
  openCalls: 0,
  due: { arm: 0, at: null },
  hash: '',
  last: at,
});
