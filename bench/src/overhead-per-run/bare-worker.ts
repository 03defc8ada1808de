import { instantModels } from '../committee/instant-models.js';
import { answer } from '../committee/replies.js';
import { committeeSteps } from './committee-steps.js';
import { hostRounds } from './measured-round.js';
import { runBare } from './bare.js';

const models = instantModels();
const steps = committeeSteps(models);
const isShipped = process.argv[2] === 'shipped';

hostRounds({
  facts: ['nothing is stored'],
  run: async () => {
    if ((await runBare(steps, isShipped)) !== answer) throw new Error('The run did not end as scripted.');
  },
  calls: () => models.calls(),
  close: async () => undefined,
});
