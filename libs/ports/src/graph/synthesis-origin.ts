import type { Source } from '@conclave/contracts';
import { longestOriginAnswer, mostOriginSources, type SynthesisOrigin, type SynthesisWrite } from './graph.js';

/** What every adapter keeps of the run that taught a synthesis: bounded, and without half a character at the end. */
export const originOf = ({ runId, at, answer, sources }: SynthesisWrite): SynthesisOrigin => ({
  runId,
  at,
  answer: answer === null || answer === undefined ? null : whole(answer.slice(0, longestOriginAnswer)),
  sources: (sources ?? []).slice(0, mostOriginSources),
});

/** Sources as one text, for stores without lists of objects; and back. */
export const sourcesText = (sources: readonly Source[]): string => JSON.stringify(sources);
export const sourcesIn = (text: string | null): readonly Source[] => (text === null ? [] : (JSON.parse(text) as readonly Source[]));

/** The order that all adapters give origins in. */
export const byTime = (a: SynthesisOrigin, b: SynthesisOrigin): number =>
  (a.at ?? 0) - (b.at ?? 0) || (a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : 0);

/** Without a first half of a pair that was cut off, and without the characters that no store can hold. */
const whole = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, '').replaceAll('\u0000', '');
