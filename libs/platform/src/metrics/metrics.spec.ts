import { describe, expect, it } from '@jest/globals';
import { openMetrics } from './metrics.js';

const valuesOf = (text: string): readonly string[] =>
  [...text.matchAll(/^conclave_model_calls_total\{model="([^"]*)"/gm)].map(([, model]) => model!);

describe('the values of a label', () => {
  it('are bounded: further values after the two hundredth are counted together', async () => {
    const metrics = openMetrics();
    for (let n = 0; n < 1_000; n += 1) metrics.count('model_calls_total', { model: `m${n}@p`, purpose: 'plan', status: 'ok' });
    // A known value keeps its own series.
    metrics.count('model_calls_total', { model: 'm0@p', purpose: 'plan', status: 'ok' });
    const text = await metrics.text();
    expect(new Set(valuesOf(text)).size).toBe(201);
    expect(text).toContain('conclave_model_calls_total{model="_rest",purpose="plan",status="ok"} 800');
    expect(text).toContain('conclave_model_calls_total{model="m0@p",purpose="plan",status="ok"} 2');
  });

  it('are short', async () => {
    const metrics = openMetrics();
    metrics.count('model_calls_total', { model: 'x'.repeat(5_000), purpose: 'plan', status: 'ok' });
    expect(valuesOf(await metrics.text())).toEqual(['_rest']);
  });
});
