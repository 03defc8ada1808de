import { afterAll, beforeAll } from '@jest/globals';
import { plainTemplate, System } from '@conclave/test-support/system';
import { Receiver } from './harness/receiver.js';
import { deliveryScenarios, deliverySecret } from './scenarios/delivery.js';

// One system for all of them: each scenario is told apart by its question.
let system: System;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await Receiver.open();
  const webhook = (path: string) => ({ url: `${receiver.url}/${path}`, secret_env: 'OPS_SECRET', allow_private: true, timeout_s: 0.5, attempts: 2 });
  const reasoning = (...default_delivery: string[]) => ({ ...plainTemplate, strategy: 'reasoning', options: { default_delivery } });
  system = await System.start({
    corpus: { 'northlight.md': '# Northlight Clock Company\n\nThe founder of the Northlight Clock Company is Ada Quill.' },
    configuration: {
      webhooks: { ops: { ...webhook('ops'), timeout_s: 10 }, broken: webhook('broken'), silent: webhook('silent') },
      templates: {
        goal: reasoning('memory'),
        told: reasoning('memory', 'ops'),
        unheard: reasoning('broken', 'silent'),
      },
    },
    env: deliverySecret,
  });
});
afterAll(async () => {
  await system?.stop();
  await receiver?.close();
});

deliveryScenarios(
  () => system,
  () => receiver,
);
