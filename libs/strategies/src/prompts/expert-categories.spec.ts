import { describe, expect, it } from '@jest/globals';
import { markers } from '@conclave/questions';
import { expertPrompts } from './expert-categories.js';

describe('the expert categories', () => {
  it('include every category that a question is recognised to need', () => {
    for (const { category } of markers) expect(Object.keys(expertPrompts)).toContain(category);
  });
});
