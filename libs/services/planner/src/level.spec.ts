import { describe, expect, it } from '@jest/globals';
import type { Attachment, PlannedTask } from '@conclave/contracts';
import { planning, template } from './__fixtures__/planning.js';

const image: Attachment = { kind: 'image', mime: 'image/png', name: null, blob: 'b', bytes: 1, url: null };
const sees = { ...template, experts: { ...template.experts, vision: { t1: ['eyes@fake'], prompt: 'See.' } } };
const plan = JSON.stringify({ tasks: [{ id: 'x1', task: 'Answer it.', capability: 'expert.general' }] });
const told = (tasks: readonly PlannedTask[]) => tasks.map(({ capability, needs }) => [capability, needs.length]);

describe('a question with an image', () => {
  it('is at least moderate, whatever its words or the request say', async () => {
    const world = planning([plan, plan, plan]);
    const short = { template: sees, goal: 'What is this?' };
    expect(await world.plan('run_1', short)).toMatchObject({ complexity: 'trivial' });
    expect(await world.plan('run_2', { ...short, attachments: [image] })).toMatchObject({ complexity: 'moderate' });
    expect(await world.plan('run_3', { ...short, attachments: [image], complexity: 'trivial' })).toMatchObject({
      complexity: 'moderate',
      signals: ['forced:request', 'context:image'],
    });
    expect(world.prompts[0]).toContain('Attached: image (image/png)');
  });

  it('gets a task that looks at the image when the plan forgot it, even when the fallback plan is used', async () => {
    const world = planning([plan, 'nonsense', 'nonsense', 'nonsense']);
    const asked = { template: sees, goal: 'What is this?', attachments: [image] };
    const looked = [
      ['expert.vision', 0],
      ['expert.general', 1],
    ];
    expect(told((await world.plan('run_1', asked)).tasks)).toEqual(looked);
    const fallback = await world.plan('run_2', asked);
    const [vision, general] = looked;
    expect([fallback.fallback, told(fallback.tasks)]).toEqual([true, [vision, ['research', 0], [general![0], 2]]]);
  });
});
