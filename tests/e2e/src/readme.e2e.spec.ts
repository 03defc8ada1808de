import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { System, workspaceRoot } from '@conclave/test-support/system';
import { follow, readPage, type Followed } from './harness/page.js';

const readme = readPage('README.md');
/** Lines under the first `Sources:` of README.md: those of the sample answer. */
const sampleSources = (): readonly string[] =>
  /\nSources:\n((?:\[\d+\].*\n)+)/
    .exec(readFileSync(join(workspaceRoot, readme.path), 'utf8'))?.[1]
    ?.trim()
    .split('\n') ?? [];

// The README against a system without any provider or corpus of its own, as a newcomer has it.
let system: System;
let results: readonly Followed[];

beforeAll(async () => {
  system = await System.start({ demo: true });
  results = await follow(readme, system);
});
afterAll(() => system?.stop());

describe('the README', () => {
  it('has commands to run in both languages', () => {
    expect(new Set(results.map(({ block }) => block.language))).toEqual(new Set(['sh', 'js']));
  });

  it('asks a question whose stream shows a re-plan, sources and its end', () => {
    const { output } = results.find(({ block }) => block.code.includes('chat/completions') && block.code.includes('stream'))!;
    expect(output).toContain('"role":"assistant"');
    expect(output).toContain('Agentic Loop — Iteration 1/');
    expect(output).toContain('Sources:');
    expect(output.trimEnd().endsWith('data: [DONE]')).toBe(true);
    // The sources in the README are the ones that a reader gets.
    const shown = sampleSources();
    expect(shown.length).toBeGreaterThan(1);
    for (const source of shown) expect(output).toContain(source);
  });

  it('prints something for each of its commands, and no error', () => {
    for (const { block, output } of results) {
      expect([block.line, output]).toEqual([block.line, expect.stringMatching(/\S/)]);
      expect(output).not.toContain('"error"');
    }
  });
});
