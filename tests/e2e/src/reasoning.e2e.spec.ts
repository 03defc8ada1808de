import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { System, plainTemplate } from '@conclave/test-support/system';
import { chatQuestionScenarios } from './scenarios/chat-questions.js';
import { changedOptionsScenarios } from './scenarios/changed-options.js';
import { reasoningScenarios } from './scenarios/reasoning.js';

// One system for all of them: each scenario is told apart by its question.
let system: System;

beforeAll(async () => {
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
      },
    },
  });
});
afterAll(() => system?.stop());
let known = 0;
afterEach(() => {
  const violations = system?.models.violations().slice(known) ?? [];
  known += violations.length;
  if (violations.length > 0) throw new Error(`The models were asked what no step answers:\n${violations.join('\n')}`);
});

reasoningScenarios(() => system);
chatQuestionScenarios(() => system);
changedOptionsScenarios(() => system);
