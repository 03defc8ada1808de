import { describe, expect, it } from '@jest/globals';
import { MemoryClaims } from './memory-claims.js';

describe('MemoryClaims', () => {
  it('does not pile up claims that are over, and drops none that is not', () => {
    let now = 1;
    const claims = new MemoryClaims(() => now);
    const claim = (n: number, owner = 'a', ttlMs = 100) => claims.claim({ tenant: 'acme', key: `k${n}`, owner, ttlMs });
    claim(-1, 'a', 1_000_000);
    let most = 0;
    for (let n = 0; n < 20_000; n += 1) {
      now += 1;
      claim(n);
      most = Math.max(most, claims.size);
    }
    expect(most).toBeLessThanOrEqual(1_001);
    expect(claim(-1, 'b')).toBe('taken');
    expect(claim(19_999, 'b')).toBe('taken');
  });

  it('may hold many that have not expired', () => {
    const claims = new MemoryClaims(() => 1);
    const claim = (n: number, owner: string) => claims.claim({ tenant: 'acme', key: `k${n}`, owner, ttlMs: 100 });
    for (let n = 0; n < 5_000; n += 1) claim(n, 'a');
    expect(claims.size).toBe(5_000);
    for (let n = 0; n < 5_000; n += 100) expect(claim(n, 'b')).toBe('taken');
  });
});
