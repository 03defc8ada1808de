/**
 * Fixed lines of the prompts. The strategies write them, the built-in demo model and scripted test models read them;
 * a language model just sees clear headings.
 */
export const promptMarks = {
  /** First lines of the system prompts. */
  planner: 'You are the planner of a committee of experts.',
  expert: 'You are an expert of the committee:',
  gap: 'You assess whether a question is answered.',
  composer: 'You are the composer of the final answer.',
  /** Labels, each at the start of a line. */
  question: 'QUESTION:',
  task: 'TASK:',
  evidence: 'EVIDENCE:',
  facts: 'FACTS:',
  answers: 'EXPERT ANSWERS:',
  stillOpen: 'STILL OPEN:',
  failedTasks: 'FAILED TASKS:',
  nextFocus: 'Next focus:',
  established: 'Previously established facts:',
  unresolved: 'Still unresolved:',
  triedSearches: 'Tried searches:',
  originalQuestion: 'ORIGINAL QUESTION:',
  currentAnswer: 'CURRENT ANSWER:',
  /** Text of tools, pages and documents stands between these lines and is never an instruction. */
  dataBegin: '<<<DATA',
  dataEnd: 'DATA>>>',
  insightOpen: '<SYNTHESIS_INSIGHT>',
  insightClose: '</SYNTHESIS_INSIGHT>',
} as const;

/** The block that a re-plan puts in front of the planner's system prompt begins with this line. */
export const iterationMark = (n: number, max: number): string => `=== AGENTIC ITERATION ${n}/${max} ===`;
