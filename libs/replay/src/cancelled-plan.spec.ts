import { describe, expect, it } from '@jest/globals';
import type { Event, PlanCreated, PlanRequested } from '@conclave/contracts';
import { planId } from '@conclave/contracts';
import { recordsOf } from './__fixtures__/recorded-runs.js';
import type { RunClock } from './decided.js';
import { driveWork } from './drive-work.js';
import type { Recording } from './recording.js';
import { todaysCode } from './todays-code.js';

const failure = { code: 'CALL_CANCELLED', message: 'The plan was no longer awaited.', retriable: false };
const clock = { bounds: () => ({}), versionAt: () => 1, lastVersion: 1 } as unknown as RunClock;

/** Drives the first plan of a recorded run again as if none of its calls had been recorded. */
async function drive(name: 'agentic' | 'single-pass', told: Partial<PlanCreated['data']>) {
  const records = await recordsOf(name);
  const eventOf = (type: string): Event => records.find(({ event }) => event?.type === type)!.event!;
  const request = eventOf('PlanRequested') as PlanRequested;
  const plan = eventOf('PlanCreated') as PlanCreated;
  const id = planId(request.runId, 0);
  const outcomes = [{ time: plan.time, data: { ...plan.data, ...told } }];
  const recording = { request, outputs: new Map(), callsOf: () => new Map(), outcomesOf: () => outcomes } as unknown as Recording;
  return driveWork({ kind: 'plan', owner: id, outcome: id, input: request }, recording, clock, todaysCode);
}

describe('the replay of a plan without a call', () => {
  it.each(['agentic', 'single-pass'] as const)('makes it as cancelled if the planner found the cancel flag: %s', async (name) => {
    const { decided } = await drive(name, { failure, tasks: [] });
    expect(decided.at(-1)!.mark).toMatchObject({ failure, tasks: [], usage: { calls: 0 } });
  });

  it.each(['agentic', 'single-pass'] as const)('does not make any other plan as cancelled: %s', async (name) => {
    expect(JSON.stringify(await drive(name, {}))).not.toContain('CALL_CANCELLED');
  });
});
