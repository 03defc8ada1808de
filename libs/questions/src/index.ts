export { bothEnds } from './complexity/both-ends.js';
export { complexityOf } from './complexity/complexity.js';
export { asksNothing } from './complexity/courtesy.js';
export { namesIn, tellingWords } from './complexity/lookup.js';
export { markers } from './complexity/markers.js';
export { mostTerms, questionTerms } from './question-terms.js';
export { normaliseQuestion } from './sameness/normalise.js';
export { languageOf } from './sameness/reading.js';
export { complexityWarmUp } from './warm-up.js';
