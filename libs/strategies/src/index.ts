export { canSee, hasImage, withVision } from './committee/vision.js';
export { answerScopeText, type Asked, exactAnswerText, isWithoutHistory, planText } from './learning/cache-keys.js';
export {
  documentsTag,
  graphContextMs,
  graphJudgementKey,
  graphJudgementMs,
  KeptAnswer,
  keptMs,
  nearestDistance,
  runTag,
  semanticKey,
} from './learning/kept.js';
export {
  confidenceUpdates,
  contributorsOf,
  factsOf,
  isUnassessed,
  mayServeAgain,
  ratingUpdates,
  servedAgainMs,
  teaches,
} from './learning/lessons.js';
export { quotedFile } from './prompts/attached.js';
export { expertPrompts } from './prompts/expert-categories.js';
export { criticPrompt, gapPrompt, hintsPrompt, scorePrompt, thinkingPrompt } from './prompts/judge-prompts.js';
export { plannerPrompt, reAskPlan } from './prompts/planner-prompt.js';
export { asData, bounded, dataRule, oneLine, type PromptMessage, sections } from './prompts/quoting.js';
export { answerLabel } from './prompts/rendering.js';
export { promptFaults, type ShippedPrompt, shippedPrompts } from './prompts/shipped.js';
export { expertPrompt, synthesisPrompt, wantsJson } from './prompts/task-prompts.js';
export { sureFrom } from './committee/own.js';
export { commandsOf, strategyOf } from './registry.js';
export { citedSources, sourceList } from './replies/citations.js';
export { readExpert } from './replies/expert-reply.js';
export { readGap } from './replies/gap-reply.js';
export { readCritique, readHints, readScores } from './replies/judge-replies.js';
export { InsightFilter, readInsight } from './replies/insight.js';
export { jsonIn } from './replies/json-reply.js';
export { type PlanReply, readPlan } from './replies/plan-reply.js';
export { QuoteFilter, withoutMarks } from './replies/quoting-marks.js';
export { unsupported, unsupportedNote } from './replies/support.js';
export { isAbout, mayBearOn } from './research/about.js';
export { freshness, freshnessOf, normalisedQuery } from './research/freshness.js';
export { bestPassages } from './research/passages.js';
