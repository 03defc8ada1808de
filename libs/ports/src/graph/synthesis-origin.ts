import type { Source } from '@conclave/contracts';
import { longestOriginAnswer, mostOriginSources, type SynthesisOrigin, type SynthesisWrite } from './graph.js';

/** What every adapter keeps of the run that taught a synthesis: bounded, never ending in half a surrogate pair. */
export const originOf = ({ runId, at, answer, sources }: SynthesisWrite): SynthesisOrigin => ({
  runId,
  at,
  answer: answer === null || answer === undefined ? null : whole(answer.slice(0, longestOriginAnswer)),
  sources: (sources ?? []).slice(0, mostOriginSources),
});

/** Converts sources to text and back, for stores without lists of objects. */
export const sourcesText = (sources: readonly Source[]): string => JSON.stringify(sources);
export const sourcesIn = (text: string | null): readonly Source[] => (text === null ? [] : (JSON.parse(text) as readonly Source[]));

/** The order in which all adapters return origins. */
export const byTime = (a: SynthesisOrigin, b: SynthesisOrigin): number =>
  (a.at ?? 0) - (b.at ?? 0) || (a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : 0);

/** Removes a trailing half of a surrogate pair and NUL, which stores cannot hold. */
const whole = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, '').replaceAll('\u0000', '');
