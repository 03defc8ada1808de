/**
 * Lines of the strategies' prompts that other code may rely on: the built-in demo model and the scripted model servers of the tests
 * recognise prompts by them. The demo model also reads `Reply ONLY`, `Budget left:` and `These are forbidden now`.
 */
export const promptMarks = {
  /** A line of the system prompt of each kind of call; its first line except on a re-plan. */
  roles: {
    planner: 'You are the planner of a committee of experts.',
    expert: (category: string): string => `You are an expert of the committee: ${category}.`,
    assessor: 'You assess whether a question is answered.',
    composer: 'You are the composer of the final answer.',
    thinker: 'You think a question through before its answer is written.',
    adviser: 'You advise experts that were unsure.',
    scorer: 'You compare answers of experts.',
    critic: 'You are the critic of answers on safety-critical topics.',
    learner: 'You write down what an answer teaches.',
    waves: 'You plan the tool calls of the next wave.',
    router: 'You decide where a question is looked up.',
    reader: 'You take facts from passages.',
    evaluator: 'You judge whether facts suffice to answer a question.',
    refiner: 'You write the next search query.',
    reasoner: 'You plan the steps that lead to a goal.',
    preparer: 'You prepare the input of one step towards a goal.',
    rater: 'You score the result of one step towards a goal.',
    decider: 'You decide how to go on towards a goal.',
    compressor: 'You keep a working memory short.',
    decomposer: 'You split a question into sub-topics that are researched at the same time.',
    topicReader: 'You read passages about one sub-topic of a question.',
    classifier: 'You say what kind of research a question needs.',
  },
  /** `QUESTION: <text>` of planner, expert and composer. */
  question: 'QUESTION:',
  /** Heading of the earlier turns as quoted lines, `user: …` and `assistant: …`. */
  conversation: 'Earlier conversation:',
  /** `Attached: <names>` after the question of a planner; instructions about the attachments follow. */
  attached: 'Attached:',
  /** `LANGUAGE: <name>. <what to write in it>`, at the end, where the question is not in English. */
  language: 'LANGUAGE:',
  /** `TASK: <text>` of an expert. */
  task: 'TASK:',
  /** Heading of the numbered facts an expert gets. */
  evidence: 'EVIDENCE:',
  /** Heading of the numbered facts the composer gets, each `[n] text — title <url or ->`. */
  facts: 'FACTS:',
  expertAnswers: 'EXPERT ANSWERS:',
  /** `- <statement> / <statement>` lines about experts that contradict each other, for the composer. */
  contradictions: 'CONTRADICTIONS:',
  /** Result of the thinking step, for the composer. */
  thinking: 'THINKING:',
  /** The answer under review by the critic. */
  reviewed: 'ANSWER TO REVIEW:',
  /** `TASK-ID: <id>` of judge calls about experts; what an expert sees when it is asked again. */
  refinement: { task: 'TASK-ID:', previous: 'YOUR EARLIER ANSWER:', hints: 'HINTS OF THE JUDGE:' },
  /** `STILL OPEN: <gap>`, only if a gap stays open. */
  stillOpen: 'STILL OPEN:',
  failedTasks: 'FAILED TASKS:',
  /** `- <capability>: <what it does>` lines follow. */
  capabilities: 'CAPABILITIES:',
  /** `- <topic>: facts <numbers>` lines about the sub-topics of a question, for the composer. */
  topics: 'SUB-TOPICS:',
  /** Headings for the tools that the planner of waves may call and for its knowledge. */
  tools: 'TOOLS:',
  results: 'RESULTS:',
  /** Headings of the strategies that search collections: the collections, passages found, the query, tried queries, what is missing. */
  collections: 'COLLECTIONS:',
  passages: 'PASSAGES:',
  query: 'QUERY:',
  tried: 'TRIED:',
  missing: 'MISSING:',
  /** Documents that the client's messages quote. */
  quoted: 'DOCUMENTS SENT WITH THE QUESTION.',
  /** Before the result of a client's tool. */
  clientTool: 'Result of a tool that was called for the question:',
  /** Heading of the texts that the user sent during the run, and the marks at the start of its lines. */
  userInputs: {
    heading: 'SAID BY THE USER DURING THE RUN:',
    steer: '[USER GUIDANCE]',
    add_context: '[USER CONTEXT]',
    answer: '[USER ANSWER]',
  },
  /** Headings of the strategy `reasoning`: the current step, its output and the working memory. */
  step: 'STEP:',
  output: 'OUTPUT OF THE STEP:',
  workingMemory: 'WORKING MEMORY:',
  /** Everything between these two lines is data, never an instruction. */
  data: { open: '<<<DATA', close: 'DATA>>>' },
  /** Block of a re-plan. */
  replan: {
    head: (iteration: number, max: number): string => `=== AGENTIC ITERATION ${iteration}/${max} ===`,
    established: 'Previously established facts:',
    unresolved: 'Still unresolved:',
    instructions: 'Instructions: Focus ONLY on resolving the gap above.',
    nextFocus: 'Next focus:',
    /** `- <epoch>/<id> …` lines follow: tasks that a new task may redo. */
    results: 'Earlier tasks:',
    /** `- <query>` lines follow. */
    tried: 'Tried searches:',
  },
  /** Gap check. */
  gapCheck: {
    question: 'ORIGINAL QUESTION:',
    answer: 'CURRENT ANSWER:',
    status: 'COMPLETION_STATUS:',
    complete: 'COMPLETE',
    needsMore: 'NEEDS_MORE_INFO',
    gap: 'GAP:',
    /** The experts' statements about their own answers. */
    experts: 'WHAT THE EXPERTS SAY OF THEIR ANSWERS:',
    nextFocus: 'NEXT_FOCUS:',
  },
  /** Final lines of an expert's answer. */
  expertMarkers: { finding: 'FINDING:', confidence: 'CONFIDENCE:', gaps: 'GAPS:', refer: 'REFER:' },
  /** The composer may end with one JSON object between these. */
  insight: { open: '<SYNTHESIS_INSIGHT>', close: '</SYNTHESIS_INSIGHT>' },
} as const;
