import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { System, plainTemplate } from '@conclave/test-support/system';
import type { StoppableServer } from './harness/stoppable-server.js';
import { guardScenarios, noticeBoard } from './scenarios/capability-guard.js';
import { changedOptionsScenarios } from './scenarios/changed-options.js';
import { chatQuestionScenarios } from './scenarios/chat-questions.js';
import { reasoningScenarios } from './scenarios/reasoning.js';

// One system for all of them: scenarios are distinguished by their questions.
let system: System;
let board: StoppableServer;

beforeAll(async () => {
  board = await noticeBoard();
  system = await System.start({
    gateways: 2,
    corpus: {
      'northlight.md':
        '# Northlight Clock Company\n\nThe founder of the Northlight Clock Company is Ada Quill. It was founded in the year 1911.',
      'ada-quill.md': '# Ada Quill\n\nThe birthplace of Ada Quill is Port Ellery, where she was born in 1880.',
    },
    configuration: {
      templates: {
        goal: { ...plainTemplate, strategy: 'reasoning' },
        talk: { ...plainTemplate, strategy: 'reasoning', options: { ask_user: 'always' } },
        sparing: {
          ...plainTemplate,
          strategy: 'reasoning',
          policies: { research: { rate: { calls: 1, per_s: 600 } }, '*': { breaker: { failures: 2, counts: 'errors' } } },
        },
        night: { ...plainTemplate, strategy: 'single-pass', policies: { research: { hours: { from: '00:00', to: '00:00' } } } },
      },
      mcp: { board: { url: `${board.url}/mcp` } },
    },
  });
});
afterAll(async () => {
  await system?.stop();
  await board?.stop();
});
let known = 0;
afterEach(() => {
  const violations = system?.models.violations().slice(known) ?? [];
  known += violations.length;
  if (violations.length > 0) throw new Error(`The models received calls that no step answers:\n${violations.join('\n')}`);
});

reasoningScenarios(() => system);
guardScenarios(() => system);
chatQuestionScenarios(() => system);
changedOptionsScenarios(() => system);
