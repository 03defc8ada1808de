import { describe, expect, it } from '@jest/globals';
import { defaultBounds } from '../evidence/evidence.js';
import { Story } from './__fixtures__/story.js';
import { check } from './check.js';

describe('try', () => {
  it('x', () => {
    const e = new Story('run_00000001', 'run_00000002').evidence();
    console.log(e.viewings[0]!.entries.map((x) => x.kind), e.records.map((r) => r.event!.id));
    expect(check(e, defaultBounds)).toEqual({ findings: [], figures: {} });
  });
});
