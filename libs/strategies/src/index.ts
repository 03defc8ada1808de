export { QuestionClass, readClass } from './adaptive/question-class.js';
export { type Ask, anyRoom, type TextFilter } from './asks/ask.js';
export type { AnyQuestion, AskedJudge, AskingStrategy, PlanAsked, PlanSaid, TakenValue } from './asks/asked-judge.js';
export { criticAsk } from './asks/critic.js';
export { gapAsk } from './asks/gap.js';
export { hintsAsk } from './asks/hints.js';
export { faultsOf } from './asks/json-form.js';
export { planAsk } from './asks/plan.js';
export { reAsked, reAskTemperature, reAskTokens } from './asks/re-ask.js';
export { scoreAsk } from './asks/score.js';
export { synthesisAsk, wantsJson } from './asks/synthesis.js';
export { thinkingAsk } from './asks/thinking.js';
export { addCapability, addedCapabilities, capabilityOf, declaredCapabilities } from './capabilities/declared.js';
export { answerScopeText, type CacheQuery, exactAnswerText, isWithoutHistory, planText } from './learning/cache-keys.js';
export {
  graphContextMs,
  graphJudgementKey,
  graphJudgementMs,
  KeptAnswer,
  keptMs,
  layerTag,
  nearestDistance,
  clientTag,
  runTag,
  semanticKey,
} from './learning/kept.js';
export {
  domainOf,
  confidenceUpdates,
  contributorsOf,
  factsOf,
  isUnassessed,
  mayServeAgain,
  ratingUpdates,
  servedAgainMs,
  teaches,
} from './learning/lessons.js';
export { actionOf, capabilitiesOf, fallbackTasks, trivialTask } from './plan-rules.js';
export { quotedFile } from './prompts/attached.js';
export { answerWords } from './answer-words/languages.js';
export { expertPrompts } from './prompts/expert-categories.js';
export { expertPrompt } from './prompts/expert-prompt.js';
export { earlierQuestions, searchTextOf } from './prompts/follow-up.js';
export { foldedName } from './folded-name.js';
export { callText } from './prompts/call-text.js';
export { excerptOf } from './prompts/excerpt.js';
export { wholeResultKey, wholeResultMs } from './learning/whole-results.js';
export { asData, bounded, dataRule, filteredMemory, languageLine, oneLine, type PromptMessage, sections } from './prompts/quoting.js';
export { userInputsText, withUserInputs } from './prompts/user-inputs.js';
export { promptFaults, type ShippedPrompt, shippedPrompts } from './prompts/shipped.js';
export { sureFrom } from './committee/own.js';
export { CitedFacts, factsAsk, mostFacts, type Passage } from './decompose/facts-ask.js';
export { describeRun } from './describe-run.js';
export { blame, saying } from './extension/blame.js';
export { callExtensionsBy, describedIn, EndlessCall, type ExtensionCall, type ExtensionCalls } from './extension/bounded.js';
export { describeCapability, type ExtensionCapability, type CapabilityResult, type GivenTask } from './extension/describe-capability.js';
export { describePlanAsk, describeQuestion } from './extension/describe-question.js';
export { describeStrategy, writer } from './extension/describe-strategy.js';
export { kindMade, type Made } from './extension/made.js';
export { addStrategy, broughtByExtensions, commandsOf, knownStrategy, strategies, StrategyMissing, strategyOf } from './registry.js';
export { readExpert } from './replies/expert-reply.js';
export { isJsonAlone, jsonIn } from './replies/json-reply.js';
export { QuoteFilter, withoutMarks } from './replies/quoting-marks.js';
export { unsupported, unsupportedNote } from './replies/support.js';
export { isAbout, mayBearOn, namesTitle } from './research/about.js';
export { freshness, freshnessOf, normalisedQuery } from './research/freshness.js';
export { citedSources, sourceList } from './replies/citations.js';
export { bestPassages } from './research/passages.js';
export { canSee, hasImage, withVision } from './vision.js';
export { complexityOfRequest } from './without-plan.js';
