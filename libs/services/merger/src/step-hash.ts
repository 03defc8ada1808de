import { hash } from 'node:crypto';
import { canonicalJson, type HashedStep, type RunState } from '@conclave/loop';

const sha = (value: unknown): string => hash('sha256', canonicalJson(value)).slice(0, 32);

/**
 * Hash of a step: over the previous step's hash, the id of its input, its time and its facts. Bodies are included by their own hash, so that
 * deleting one leaves the chain valid. First 32 hex digits of SHA-256.
 */
export const chainHash = (before: string, { input, request, now, facts }: HashedStep): string =>
  sha([before, input.id, now, sha(input.data), request ? sha(request.data) : null, facts]);

/** SHA-256 of the canonical JSON of a state, first 32 hex digits. */
export const stateHash = (state: RunState): string => sha(state);
