import { describe, expect, it } from '@jest/globals';
import type { Attachment, PlannedTask, Template } from '@conclave/contracts';
import { planFaults } from './plan-rules.js';
import { withVision } from './vision.js';

const image: Attachment = { kind: 'image', mime: 'image/png', name: null, blob: 'b', bytes: 3, url: null };
const file: Attachment = { ...image, kind: 'file', mime: 'text/plain' };
const profile = { t1: ['m@x'], prompt: '' };
const templateOf = (...categories: readonly string[]): Template =>
  ({ experts: Object.fromEntries(categories.map((name) => [name, profile])), capabilities: ['research'] }) as unknown as Template;
const task = (id: string, capability: string, needs: string[] = []): PlannedTask => ({
  ...{ id, capability, task: `do ${id}`, query: capability === 'research' ? id : null, needs, metadata_filters: null },
});
const sees = templateOf('general', 'science', 'vision');
const asked = { goal: 'What is this?', template: sees, attachments: [image] };

describe('a plan for a question with an image', () => {
  it('gets a task that looks first, and every other expert waits for that', () => {
    const plan = withVision([task('r', 'research'), task('a', 'expert.science', ['r']), task('look', 'expert.general')], asked, 'moderate');
    expect(plan.map(({ id, capability, needs }) => [id, capability, needs])).toEqual([
      ['look2', 'expert.vision', []],
      ['r', 'research', []],
      ['a', 'expert.science', ['r', 'look2']],
      ['look', 'expert.general', ['look2']],
    ]);
    expect(plan[0]!.task).toContain('What is this?');
    expect(planFaults(plan, sees)).toEqual([]);
  });

  it('stays as it is if a task already looks', () => {
    const tasks = [task('a', 'expert.vision')];
    expect(withVision(tasks, asked, 'moderate')).toBe(tasks);
  });

  it('stays as it is for files alone, without attachments, and if no expert can see', () => {
    const tasks = [task('a', 'expert.general')];
    expect(withVision(tasks, { ...asked, attachments: [file] }, 'moderate')).toBe(tasks);
    expect(withVision(tasks, { goal: 'Why?', template: sees }, 'moderate')).toBe(tasks);
    expect(withVision(tasks, { ...asked, template: templateOf('general') }, 'moderate')).toBe(tasks);
  });

  it('lets its general expert look if no further expert fits in, else its last one', () => {
    const full = ['science', 'general', 'science', 'science'].map((name, n) => task(`t${n}`, `expert.${name}`));
    const plan = withVision(full, asked, 'moderate');
    expect(plan.map(({ capability }) => capability)).toEqual(['expert.science', 'expert.vision', 'expert.science', 'expert.science']);
    expect(planFaults(plan, sees)).toEqual([]);
    const special = full.map((one) => ({ ...one, capability: 'expert.science' }));
    expect(withVision(special, asked, 'moderate').at(-1)!.capability).toBe('expert.vision');
  });
});
