/** Parts that the LangGraph.js workers share with ours; those workers are plain JavaScript with their own packages. */
export { committeeSteps } from './committee-steps.js';
export { hostRounds } from './measured-round.js';
export { instantModels } from '../committee/instant-models.js';
export { answer, question } from '../committee/replies.js';
