export { judgePairs, measurePairs, type Embed, type JudgedPair, type PairTally } from './cache/pair-measure.js';
export { questionPairs, type QuestionPair } from './cache/pairs/question-pair.js';
export type { Evaluation, EvaluationReport } from './evaluation.js';
export { evaluations } from './evaluations.js';
export { labelledPrompts, type LabelledPrompt } from './routing/prompts/labelled-prompt.js';
