import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { asNamed } from './named-model.js';

describe('a model that its server does not have', () => {
  const failure = new Failure('PROVIDER_MODEL_UNKNOWN', 'Provider p, status 404.', { retryAfterMs: 5 });

  it('is unknown to a client that named it', () => {
    const shown = asNamed(failure, 'm@p', 'm@p');
    expect([shown.code, shown.spec.status, shown.detail, shown.options]).toEqual(['MODEL_NOT_FOUND', 404, failure.detail, failure.options]);
  });

  it('is a mistake of the configuration behind another name, which exists', () => {
    expect(asNamed(failure, 'm@p', 'chat')).toBe(failure);
    expect(failure.spec.status).toBe(502);
    expect(failure.message).toContain('correct its name in the configuration');
  });

  it('is no other failure', () => {
    const other = new Failure('PROVIDER_FAILED');
    expect(asNamed(other, 'm@p', 'm@p')).toBe(other);
  });
});
