import { CachedAnswer, type CacheLayerName } from '@conclave/contracts';
import type * as z from 'zod';

/** An answer as stored in the answer caches. */
export const KeptAnswer = CachedAnswer.omit({ origin: true, distance: true });
export type KeptAnswer = z.infer<typeof KeptAnswer>;

/** Tag of everything cached from a run. All of it is removed if the run's answer was bad. */
export const runTag = (runId: string): string => `run:${runId}`;
/** Tag of what is stored for the client of a run: only its deletion removes it, a bad rating does not. */
export const clientTag = (runId: string): string => `client:${runId}`;
/** Tag of everything in one layer of a tenant's caches, so that it can be emptied. */
export const layerTag = (layer: CacheLayerName): string => `layer:${layer}`;
/** Key of a run's answer in the semantic cache. */
export const semanticKey = (runId: string): string => `semantic/${runId}`;

/** Lifetimes of cache entries in milliseconds. */
export const keptMs = { exact: 30 * 60_000, semantic: 7 * 24 * 60 * 60_000, plan: 30 * 60_000 } as const;
/** Cosine distance below which two questions may be the same. */
export const nearestDistance = 0.15;

/**
 * Key of a value that changes when ratings or decisions of people change a tenant's graph. Keys of cached contexts contain it, so that
 * no older context is reused. It outlives every context.
 */
export const graphJudgementKey = 'graph-context/judgement';
/** Lifetime of cached graph contexts and of the value above, in milliseconds. */
export const graphContextMs = 60 * 60_000;
export const graphJudgementMs = 2 * graphContextMs;
