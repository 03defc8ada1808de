import { expect, it } from '@jest/globals';
import { noUsage } from '@conclave/contracts';
import type { Calls } from '@conclave/calls';
import { MemoryStores } from '@conclave/ports';
import { wholeResultKey, type TakenValue } from '@conclave/strategies';
import { valuesTaken } from './taken-values.js';

const runId = 'run_00000001';
const look = { runId, owner: `${runId}/1/plan`, deadline: Number.MAX_SAFE_INTEGER, signal: new AbortController().signal };
/** The value behind `id=`. */
const of = (text: string): unknown => /id=(\w+)/.exec(text)?.[1];
const value = (said: string, id: string, known: string, isWhole: boolean): TakenValue => ({
  said,
  task: { epoch: 0, id },
  known,
  isWhole,
  of,
});

it('takes values from what the run knows, and looks them up once in the whole result of which it knows an excerpt', async () => {
  const { state } = new MemoryStores().connect('one');
  const write = (tenant: string, text: string) =>
    state.caches.write({ tenant, key: wholeResultKey(`${runId}/0/long`), value: text, ttlMs: 60_000, tags: [] });
  await write('acme', 'far behind: id=whole');
  await write('other', 'id=stolen');
  const requests: unknown[] = [];
  const maker: Pick<Calls, 'tool'> = {
    tool: async ({ request }, perform) => {
      requests.push(request);
      const content = await perform(new AbortController().signal);
      return { kind: 'reply', reply: { content }, attempt: 1, replayed: false, usage: noUsage, record: { id: 'r' } } as never;
    },
  };
  const take = (...taken: TakenValue[]) => valuesTaken({ caches: state.caches, maker }, look, 'acme', taken);
  const near = value('{{a.id}}', 'a', 'id=near', true);
  expect(await take(near, value('{{a.x}}', 'a', 'nothing', true))).toMatchObject({ kind: 'seen', value: new Map([['{{a.id}}', 'near']]) });
  expect(requests).toEqual([]);
  const found = await take(near, value('{{long.id}}', 'long', 'the beginning', false), value('{{gone.id}}', 'gone', 'id=cut', false));
  expect(found).toMatchObject({
    kind: 'seen',
    value: new Map([
      ['{{a.id}}', 'near'],
      ['{{long.id}}', 'whole'],
    ]),
    records: [{ id: 'r' }],
  });
  expect(requests).toEqual([
    {
      values: [
        { said: '{{long.id}}', epoch: 0, id: 'long' },
        { said: '{{gone.id}}', epoch: 0, id: 'gone' },
      ],
    },
  ]);
});
