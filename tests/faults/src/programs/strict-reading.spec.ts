import { describe, expect, it } from '@jest/globals';
import { PlanRequested } from '@conclave/contracts';
import { refuseUnknownFields } from './strict-reading.js';

/** Names of the fields that a request is refused for. */
const refused = (data: object): readonly unknown[] => {
  const { error } = PlanRequested.schema.safeParse(data);
  return (error?.issues ?? []).flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []));
};

describe('the switch that removes tolerant reading', () => {
  it('refuses requests with fields that this version does not know', () => {
    const later = { goal: 'Why?', mood: 'curious' };
    expect(refused(later)).toEqual([]);
    try {
      refuseUnknownFields();
      expect(refused(later)).toEqual(['mood']);
    } finally {
      // Its own method is that of every schema.
      Reflect.deleteProperty(PlanRequested.schema, 'safeParse');
    }
  });
});
