import { describe, expect, it } from '@jest/globals';
import type { PlannedTask } from '@conclave/contracts';
import { unfilledOf } from './unfilled.js';

const ids = new Set(['c1', 'find-user', 'b']);
const tools = ['crm.find_customer', 'crm.list'];
const of = (args: Record<string, unknown>) => unfilledOf({ args } as unknown as PlannedTask, ids, tools);

describe('an argument that stands for a value', () => {
  it.each([
    [{ customer: '{{c1.customer_id}}' }, 'customer', '{{c1.customer_id}}'],
    [{ customer: '$c1.result.customer.id' }, 'customer', '$c1.result.customer.id'],
    [{ customer: '$c1' }, 'customer', '$c1'],
    [{ customer: '${ c1 }' }, 'customer', '${ c1 }'],
    [{ customer: '{{ steps.find-user.output[0] }}' }, 'customer', '{{ steps.find-user.output[0] }}'],
    [{ note: 'Dear {{c1.name}},' }, 'note', 'Dear {{c1.name}},'],
    [{ customer_id: '<customer_id>' }, 'customer_id', '<customer_id>'],
    [{ customerId: '<YOUR CUSTOMER ID>' }, 'customerId', '<YOUR CUSTOMER ID>'],
    [{ customer_id: '<id>' }, 'customer_id', '<id>'],
    [{ who: '<the name from c1>' }, 'who', '<the name from c1>'],
    [{ who: '[result of crm.find_customer]' }, 'who', '[result of crm.find_customer]'],
    [{ entities: [{ name: '<name from c1>' }] }, 'entities', '<name from c1>'],
    [{ ids: ['7', '{{c1.id}}'] }, 'ids', '{{c1.id}}'],
    [{ token: '{c1.receipt.token}' }, 'token', '{c1.receipt.token}'],
    [{ note: 'For {c1.name} only' }, 'note', 'For {c1.name} only'],
    [{ customer_id: '{customer_id}' }, 'customer_id', '{customer_id}'],
    [{ token: '<c1.token>' }, 'token', '<c1.token>'],
    [{ token: '{{wave1.c1.token}}' }, 'token', '{{wave1.c1.token}}'],
    [{ token: '{{results[0].token}}' }, 'token', '{{results[0].token}}'],
  ])('is found: %j', (args, name, said) => {
    expect(of(args)).toEqual({ name, said });
  });

  it.each([
    [{ text: 'Hello {{name}}, your code is ${code}.' }],
    [{ html: '<b>' }],
    [{ body: '<p>c1 and customer_id</p>' }],
    [{ price: '$100', path: '$HOME/c1', sum: '$b + 1' }],
    [{ query: 'SELECT * FROM t WHERE a < 3 AND c > 4' }],
    [{ files: '["my files.txt"]', pattern: '[a-z]+', match: '[^c1]' }],
    [{ n: 5, on: true, nothing: null, name: 'c1', empty: '<>' }],
    [{ template: 'id: <id>, b: <b>' }],
    [{ glob: '{b}', files: '*.{c1,b}', url: '/users/{user.id}', json: '{"c1": {"b": 1}}', set: '{c1: 1}' }],
    [{ text: 'See {{results[0].token}} there', value: '{{ states.kitchen }}' }],
  ])('is not a value that only looks alike: %j', (args) => {
    expect(of(args)).toBeNull();
  });

  it('is looked for in bounded time', () => {
    const begun = process.cpuUsage();
    for (const part of ['{{', '${', '$a', '<', '$.a[', '{a.']) expect(of({ text: part.repeat(100_000) })).toBeNull();
    expect(of({ deep: Array.from({ length: 5_000 }, () => 'x') })).toBeNull();
    expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(2_000);
  });
});
