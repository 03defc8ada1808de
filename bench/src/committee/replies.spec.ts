import { describe, expect, it } from '@jest/globals';
import { runBare } from '../overhead-per-run/bare.js';
import { committeeSteps } from '../overhead-per-run/committee-steps.js';
import { instantModels } from './instant-models.js';
import { answer, callsPerRun, replyTo, shippedCallsPerRun } from './replies.js';

describe('the committee of the benchmarks', () => {
  it('runs two rounds of four experts and makes every documented call', async () => {
    const models = instantModels();
    expect(await runBare(committeeSteps(models))).toBe(answer);
    expect(models.calls()).toBe(callsPerRun);
    expect(callsPerRun).toBe(13);
  });

  it('asks a second tier, refines and thinks as the shipped template does', async () => {
    const models = instantModels();
    expect(await runBare(committeeSteps(models), true)).toBe(answer);
    expect(models.calls()).toBe(shippedCallsPerRun);
    expect(shippedCallsPerRun).toBe(25);
  });

  it('refuses prompts that no committee sends', () => {
    expect(() => replyTo([{ role: 'user', content: 'Hello' }])).toThrow('no committee asks');
  });
});
