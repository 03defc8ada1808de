import { describe, expect, it } from '@jest/globals';
import { CapabilityPolicy, type Permit, type TaskDispatched } from '@conclave/contracts';
import { MemoryStores } from '@conclave/ports';
import { mintPermit, narrowed, PermitKey, permitOf, verifiedPolicies, withPermit } from './permit.js';

const key = Buffer.alloc(32, 7);
const startBy = 1_000_000;
const ends = startBy + 120_000;

function task(changes: { runId?: string; permit?: Permit } & Partial<TaskDispatched['data']> = {}): TaskDispatched {
  const { runId = 'run_00000001', ...data } = changes;
  const input = { kind: 'research', task: 'Find it.', query: 'copper', limit: 5 };
  const all = { taskId: `${runId}/0/s1`, capability: 'research', tenant: 'acme', input, startBy, timeoutS: 120, ...data };
  return { id: all.taskId, type: 'TaskDispatched', runId, data: all } as unknown as TaskDispatched;
}
const permitted = (one: TaskDispatched): Permit => permitOf(one, {}, key);
const tool = (name: string): Partial<TaskDispatched['data']> => ({
  capability: 'mcp',
  input: { kind: 'mcp', task: 'x', tool: name, args: {} },
});
const told = (one: TaskDispatched, now = startBy, by = key) => {
  try {
    return verifiedPolicies(one, now, by);
  } catch (error) {
    return (error as { code: string; message: string }).code;
  }
};

describe('a capability token', () => {
  it('allows its own task until its latest end, under the policy of the template', () => {
    const policies = { research: CapabilityPolicy.parse({ rate: { calls: 2 } }) };
    const permit = permitOf(task(), policies, key);
    expect(told(task({ permit }), ends - 1)).toEqual([policies.research]);
    expect(told(task({ permit }), ends)).toBe('PERMIT_EXPIRED');
  });

  it.each<[string, TaskDispatched, TaskDispatched]>([
    ['another run', task(), task({ runId: 'run_00000002', taskId: 'run_00000001/0/s1' })],
    ['another task of the run', task(), task({ taskId: 'run_00000001/0/s2' })],
    ['another capability', task(), task({ capability: 'graph' })],
    ['another tool', task(tool('hotel.look')), task(tool('hotel.book'))],
    ['another tenant', task(), task({ tenant: 'rival' })],
  ])('is denied to %s', (_who, own, other) => {
    const permit = permitted(own);
    expect(told({ ...own, data: { ...own.data, permit } })).toHaveLength(1);
    expect(told({ ...other, data: { ...other.data, permit } })).toBe('PERMIT_INVALID');
  });

  it('is denied if it is missing, signed by somebody else, or changed', () => {
    const { caveats, signature } = permitted(task());
    expect(told(task())).toBe('PERMIT_INVALID');
    expect(told(task({ permit: permitted(task()) }), startBy, Buffer.alloc(32, 8))).toBe('PERMIT_INVALID');
    const later = caveats.map((caveat) => (caveat.startsWith('expires=') ? `expires=${ends * 2}` : caveat));
    for (const permit of [
      { caveats: later, signature },
      { caveats: caveats.slice(0, -1), signature },
      { caveats, signature: '' },
    ])
      expect(told(task({ permit }))).toBe('PERMIT_INVALID');
  });

  it('can be narrowed by its holder, and an unknown caveat denies everything', () => {
    const permit = permitted(task());
    expect(told(task({ permit: narrowed(permit, `expires=${startBy + 5}`) }), startBy + 4)).toHaveLength(1);
    expect(told(task({ permit: narrowed(permit, `expires=${startBy + 5}`) }), startBy + 5)).toBe('PERMIT_EXPIRED');
    expect(told(task({ permit: narrowed(permit, 'moon=full') }))).toBe('PERMIT_INVALID');
    expect(told(task({ permit: narrowed(permit, 'constructor=') }))).toBe('PERMIT_INVALID');
    expect(told(task({ permit: narrowed(permit, 'policy={"chain_depth":0}') }))).toMatchObject([{ chain_depth: 3 }, { chain_depth: 0 }]);
    expect(told(task({ permit: narrowed(permit, 'policy={"everything":true}') }))).toBe('PERMIT_INVALID');
    const { caveats } = narrowed(permit, 'moon=full');
    expect(told(task({ permit: { caveats: caveats.slice(0, -1), signature: narrowed(permit, 'moon=full').signature } }))).toBe(
      'PERMIT_INVALID',
    );
  });

  it('is useless without the caveats that bind it to one task', () => {
    expect(told(task({ permit: mintPermit(key, []) }))).toBe('PERMIT_INVALID');
    for (const left of ['run', 'tenant', 'task', 'capability', 'expires', 'policy']) {
      const caveats = permitted(task()).caveats.filter((caveat) => !caveat.startsWith(`${left}=`));
      expect(told(task({ permit: mintPermit(key, caveats) }))).toBe('PERMIT_INVALID');
    }
  });

  it('is issued to tasks that call a capability, once, and not to experts and judges', () => {
    const given = withPermit(task(), {}, key) as TaskDispatched;
    expect(told(given)).toHaveLength(1);
    expect(withPermit(given, {}, Buffer.alloc(32, 8))).toBe(given);
    for (const capability of ['expert.general', 'judge.gap', 'run']) {
      const other = task({ capability });
      expect(withPermit(other, {}, key)).toBe(other);
    }
  });
});

describe('the key of capability tokens', () => {
  it('is the same in every process on the same store and differs on another store, and the configured one takes precedence', async () => {
    const stores = new MemoryStores();
    const keyOn = (id: string, on = stores, secret?: string): Promise<Buffer> => new PermitKey(on.connect(id).state.once, secret).get();
    const [one, two, elsewhere] = [await keyOn('one'), await keyOn('two'), await keyOn('one', new MemoryStores())];
    expect(two).toEqual(one);
    expect(elsewhere).not.toEqual(one);
    const secret = 'a secret of at least 32 characters';
    expect(await keyOn('three', stores, secret)).toEqual(await keyOn('one', new MemoryStores(), secret));
    expect(await keyOn('three', stores, secret)).not.toEqual(one);
  });

  it('is read again after the store was unavailable', async () => {
    let asked = 0;
    const permitKey = new PermitKey({
      claim: async ({ holder }) => {
        asked += 1;
        if (asked === 1) throw new Error('away');
        return { mine: true, holder };
      },
    });
    await expect(permitKey.get()).rejects.toThrow('away');
    expect(await permitKey.get()).toBe(await permitKey.get());
    expect(asked).toBe(2);
  });
});
