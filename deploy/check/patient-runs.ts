/** A template like `conclave` with limits that a slow machine does not reach. */
const patient = {
  strategy: 'agentic',
  max_agentic_rounds: 3,
  gap_check: 'evidence',
  capabilities: ['research'],
  caches: { answer: false, semantic: false, plan: false, search: false },
  task_timeout_s: 600,
  start_timeout_s: 900,
  planning_timeout_s: 600,
  limits: { wall_time_s: 3600 },
} as const;

/** Without a provider the demo model answers, from the sample documents. A busy machine may be slow; speed is not tested here. */
export const patientConfiguration = { providers: {}, models: {}, templates: { patient }, gateway: { max_queue_wait_s: 0 } } as const;

/** Questions whose answers are two documents deep, with the first words of the right answer. */
const questions = [
  ['In which town was the founder of the Northlight Clock Company born?', 'Saint Orrin'],
  ['In which town was the founder of the Tidewater Clock Company born?', 'Kettle Sound'],
  ['When was the founder of the Northlight Clock Company born?', '1869'],
  ['When was the founder of the Tidewater Clock Company born?', '1853'],
  ['In what year was the author of The Winter Ferry born?', '1911'],
  ['When did the founder of the Tidewater Clock Company die?', '1931'],
  ['Where did the architect of the Gull Bridge study?', 'University of Aldersund'],
  ['Which river flows through the capital of Vestmark?', 'Torne'],
] as const;

const ofRun = (n: number) => questions[n % questions.length]!;

/** Body of the request of the n-th run. */
export const requestOf = (n: number) => ({ model: 'patient', input: ofRun(n)[0] });

/** The expected end of the n-th run: its own question, and an answer that begins with the right words. */
export const rightEnd = (n: number): readonly string[] => ['completed', ...ofRun(n)];

/** How a run ended, with as much of its answer as `rightEnd` has. */
export function endOf(n: number, run: { readonly outcome: string | null; readonly question: string; readonly answer: string | null }) {
  return [run.outcome, run.question, run.answer?.slice(0, ofRun(n)[1].length)];
}
