import { rootOf } from '@conclave/contracts';
import { hashText } from '../faults/random.js';

/**
 * A word that stands in every text which a model writes for a run or its child runs, and nowhere else: wherever it is found later, the
 * text comes from that run.
 */
export const markOf = (runId: string): string => `mark${hashText(rootOf(runId)).toString(16).padStart(8, '0')}`;

const anyMark = /mark[0-9a-f]{8}/g;

/** Marks in a text. */
export const marksIn = (text: string): ReadonlySet<string> => new Set(text.match(anyMark) ?? []);
