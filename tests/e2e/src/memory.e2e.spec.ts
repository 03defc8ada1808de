import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { System } from '@conclave/test-support/system';
import { forgetGraph } from './harness/graph.js';
import { keySettings, keyVariables } from './scenarios/callers.js';
import { collectionScenarios, collectionTemplates } from './scenarios/collections.js';
import { keptAnswerScenarios, keptAnswerTemplates } from './scenarios/kept-answers.js';
import { ragScenarios, ragTemplates } from './scenarios/reflective-rag.js';
import { memoryScenarios, memoryTemplates } from './scenarios/memory.js';
import { briefSkill, thoughtScenarios, thoughtTemplates } from './scenarios/thoughts.js';

// A system with API keys of two tenants.
const skills = mkdtempSync(join(tmpdir(), 'conclave-skills-'));
let system: System;

beforeAll(async () => {
  writeFileSync(join(skills, 'brief.md'), briefSkill);
  system = await System.start({
    corpus: { 'light.md': '# Light\n\nThe light of a lighthouse turns on mercury.\n' },
    configuration: {
      keys: keySettings,
      skills,
      templates: { ...collectionTemplates, ...keptAnswerTemplates, ...memoryTemplates, ...thoughtTemplates, ...ragTemplates },
    },
    env: keyVariables,
  });
});
afterAll(async () => {
  await system?.stop();
  if (system) await forgetGraph(system);
  rmSync(skills, { recursive: true, force: true });
});
afterEach(() => expect(system?.models.violations() ?? []).toEqual([]));

memoryScenarios(() => system);
collectionScenarios(() => system);
ragScenarios(() => system);
thoughtScenarios(() => system);
keptAnswerScenarios(() => system);
