import { expect, it } from '@jest/globals';
import type { Event, ResultReady, TaskDispatched } from '@conclave/contracts';
import { recordsOf } from './__fixtures__/recorded-runs.js';
import { RecordedCalls } from './recorded-calls.js';
import { todaysCode } from './todays-code.js';

const records = await recordsOf('agentic');
const search = records.find(({ event }) => event?.type === 'TaskDispatched' && event.id.endsWith('/r1'))!.event as TaskDispatched;
const state = { now: search.time, started: true, request: null, kept: null };

it.each(['recall', 'graph', 'collections', 'math', 'mcp', 'research'])(
  'a worker that had no part for %s is asked again as one without it',
  async (capability) => {
    const task = { ...search, data: { ...search.data, capability } };
    const events = (await todaysCode.work(task, new RecordedCalls(new Map(), false), state, null)) as readonly Event[];
    const [result] = events as readonly ResultReady[];
    expect(result!.data).toMatchObject({ status: 'unsupported', failure: { message: expect.stringContaining(capability) } });
  },
);
