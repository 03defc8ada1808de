import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { wordings } from '@conclave/service-experts/suites';
import { System, plainTemplate, twoHops } from '@conclave/test-support/system';
import { attachmentScenarios, attachmentTemplates } from './scenarios/attachments.js';
import { clientScenarios } from './scenarios/client.js';
import { faultScenarios } from './scenarios/faults.js';
import { forkScenarios } from './scenarios/forks.js';
import { insightScenarios } from './scenarios/insight.js';
import { loopScenarios } from './scenarios/loop.js';
import { pipelineScenarios, pipelineTemplates } from './scenarios/pipeline.js';
import { runScenarios } from './scenarios/runs.js';
import { wordingScenarios } from './scenarios/wordings.js';

// One system for all of them: scenarios are distinguished by their questions.
const hops = twoHops();
let system: System;
const running = (): System => system;

beforeAll(async () => {
  system = await System.start({
    corpus: hops.documents,
    configuration: {
      templates: {
        ...pipelineTemplates,
        ...attachmentTemplates,
        'plans-briefly': { ...plainTemplate, planning_timeout_s: 1 },
        'checks-answers': { ...plainTemplate, strategy: 'agentic', max_agentic_rounds: 3, gap_check: 'answer' },
      },
      aliases: { 'gpt-4o': 'conclave-fast' },
      gateway: { max_open_runs: 4, heartbeat_s: 1 },
    },
  });
});
afterAll(() => system?.stop());
let known = 0;
afterEach(() => {
  // An unscripted call is an error of the previous test, whatever that test checked.
  const violations = system?.models.violations().slice(known) ?? [];
  known += violations.length;
  if (violations.length > 0) throw new Error(`The models received calls that no step answers:\n${violations.join('\n')}`);
});

loopScenarios(running, hops);
clientScenarios(running);
runScenarios(running);
faultScenarios(running, hops);
forkScenarios(running, hops);
insightScenarios(running);
attachmentScenarios(running);
pipelineScenarios(running, hops);
wordingScenarios(running, wordings);
