import { describe, expect, it } from '@jest/globals';
import { Failure, planId, type CallRecorded, type Event, type PlanCreated, type PlanRequested } from '@conclave/contracts';
import { gapOf, keptPlan, planning } from './__fixtures__/planning.js';

const runId = 'run_00000001';
const good = '{"tasks":[{"id":"x1","task":"answer","capability":"expert.general"}]}';
const typesOf = (outcome: unknown): readonly string[] => (outcome as readonly Event[]).map(({ type }) => type);

describe('a plan', () => {
  /** A run whose engine has already dispatched the tasks of its first plan. */
  async function past(world: ReturnType<typeof planning>, over = {}) {
    const header = await world.request(runId, over);
    await world.stores.runs.commit(header, () => ({
      ...{ next: { awaiting: null }, outputs: [], entries: [], arm: [], disarm: [], cancels: [], terminal: false, status: 'collecting' },
    }));
    return header;
  }

  it.each([
    [
      'is cancelled',
      ['PlanCreated', 'CallRecorded'],
      async (world: ReturnType<typeof planning>) => {
        const header = await world.request(runId);
        await world.stores.runs.cancel(runId);
        return header;
      },
    ],
    ['is past its first plan', ['CallRecorded'], past],
  ])(
    'of a run that %s is not requested: the record of a cancelled call says so, the same with each delivery',
    async (_which, types, make) => {
      const world = planning([]);
      const header = await make(world);
      const outcomes = [await world.process().onRequest(header, world.context), await world.process().onRequest(header, world.context)];
      for (const outcome of outcomes) {
        const record = (outcome as readonly Event[]).at(-1) as CallRecorded;
        expect([typesOf(outcome), record.data.status, record.data.usage.calls]).toEqual([types, 'cancelled', 0]);
      }
      expect((outcomes[1] as readonly Event[])[0]!.id).toBe((outcomes[0] as readonly Event[])[0]!.id);
      expect(world.prompts).toEqual([]);
    },
  );

  it('that needs no call is not made for a run that awaits none', async () => {
    const world = planning([]);
    expect(await world.process().onRequest(await past(world, { plan: keptPlan }), world.context)).toEqual([]);
    const other = planning([]);
    expect(await other.process().onRequest(await past(other, { goal: 'Thanks!' }), other.context)).toEqual([]);
    const shown = await world.stores.connect('two').stream.read(runId, 0, 100);
    expect(shown.entries).toEqual([]);
  });

  it('that is made without a call, because none is left, is returned as cancelled for a run that was cancelled', async () => {
    const world = planning([]);
    await world.request(runId);
    expect(typesOf(await world.process().onGap(gapOf(runId, 0), world.context))).toEqual(['PlanCreated']);
    await world.stores.runs.cancel(runId);
    const [plan] = (await world.process().onGap(gapOf(runId, 0), world.context)) as readonly Event[];
    expect(plan!.data).toMatchObject({ failure: { code: 'CALL_CANCELLED' }, usage: { calls: 0 } });
  });

  it('is returned again after its run was cancelled when its cost was already paid', async () => {
    const world = planning([good]);
    const header = await world.request(runId);
    const first = await world.process().onRequest(header, world.context);
    await world.stores.runs.cancel(runId);
    expect(typesOf(await world.process().onRequest(header, world.context))).toEqual(typesOf(first));
    expect(world.prompts).toHaveLength(1);
  });

  /** A plan whose call is ended by what happens to its run meanwhile. */
  const endedBy = async (happens: (world: ReturnType<typeof planning>, header: PlanRequested) => Promise<unknown>) => {
    const world: ReturnType<typeof planning> = planning([
      async () => {
        await happens(world, header);
        throw new Failure('CALL_CANCELLED');
      },
    ]);
    const header = await world.request(runId);
    return (await world.process().onRequest(header, world.context)) as readonly Event[];
  };

  it('that the engine gives up during its call is returned as a failure with what was paid, for the engine to count', async () => {
    const outcome = await endedBy((world, header) =>
      world.stores.runs.commit(header, () => ({
        ...{ next: { awaiting: null }, outputs: [], entries: [], arm: [], disarm: [], terminal: false, status: 'composing' },
        cancels: [planId(runId, 0)],
      })),
    );
    expect(typesOf(outcome)).toEqual(['PlanCreated', 'CallRecorded']);
    expect(outcome[0]!.data).toMatchObject({ epoch: 0, tasks: [], failure: { code: 'CALL_CANCELLED' }, usage: { calls: 1 } });
    expect((outcome[0] as PlanCreated).data.usage).toEqual((outcome[1] as CallRecorded).data.usage);
  });

  it('of a run that is flagged during its call is returned as cancelled, because the command may never come', async () => {
    const outcome = await endedBy(async (world, header) => {
      await world.stores.runs.commit(header, () => ({
        ...{ next: { awaiting: { epoch: 0 } }, outputs: [], entries: [], arm: [], disarm: [], terminal: false, status: 'planning' },
        cancels: [],
      }));
      await world.stores.runs.cancel(runId);
    });
    expect(typesOf(outcome)).toEqual(['PlanCreated', 'CallRecorded']);
    expect(outcome[0]!.data).toMatchObject({ tasks: [], failure: { code: 'CALL_CANCELLED' }, usage: { calls: 1 } });
  });

  it('for a gap reads the request from the store only if this process did not plan for the run, or if the request is long', async () => {
    const headersRead = async (over: object, again: boolean): Promise<number> => {
      const world = planning([good, good]);
      let read = 0;
      const { header } = world.stores.runs;
      world.stores.runs.header = (id) => ((read += 1), header.call(world.stores.runs, id));
      const planner = world.process();
      await planner.onRequest(await world.request(runId, over), world.context);
      await (again ? world.process() : planner).onGap(gapOf(runId), world.context);
      return read;
    };
    expect(await headersRead({}, false)).toBe(0);
    expect(await headersRead({}, true)).toBe(1);
    expect(await headersRead({ conversation: [{ role: 'user', content: 'x'.repeat(40_000) }] }, false)).toBe(1);
  });
});
