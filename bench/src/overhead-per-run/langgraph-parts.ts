/** What the workers of LangGraph.js share with ours: they are plain JavaScript beside the packages of their own. */
export { committeeSteps } from './committee-steps.js';
export { hostRounds } from './measured-round.js';
export { instantModels } from '../committee/instant-models.js';
export { answer, question } from '../committee/replies.js';
