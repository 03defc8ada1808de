import { describe, expect, it } from '@jest/globals';
import { Failure, noUsage, type FailureCode } from '@conclave/contracts';
import type { ProbedPorts } from '@conclave/platform';
import type { KnowledgeGraph, ModelCall, Models, Search } from '@conclave/ports';
import type { ProtectionName } from './protections.js';
import { unprotectedServers } from './unprotected-servers.js';

const failing = (code: FailureCode) => () => Promise.reject(new Failure(code, 'away', { context: { usage: noUsage } }));
const calls: ModelCall[] = [];
const models = {
  call: (request: ModelCall, { onDelta }: Parameters<Models['call']>[1]) => {
    calls.push(request);
    onDelta?.({ content: 'The ' });
    return failing('PROVIDER_STREAM_BROKEN')();
  },
} as unknown as Models;
const search = { query: failing('SEARCH_UNAVAILABLE') } as unknown as Search;
const graph = { addSynthesis: failing('GRAPH_UNAVAILABLE'), addTriples: failing('GRAPH_UNAVAILABLE') } as unknown as KnowledgeGraph;
const ports = { models, search, graph } as unknown as ProbedPorts;
const without = (...names: readonly ProtectionName[]) => unprotectedServers(ports, new Set(names));

const request = { model: 'm@fake', messages: [], timeoutMs: 1 };
const call = (of: ProbedPorts, onDelta?: (delta: { content?: string }) => void) =>
  of.models!.call(request, { signal: new AbortController().signal, ...(onDelta ? { onDelta } : {}) });
const query = (of: ProbedPorts) => of.search!.query({ query: 'q', limit: 1, signal: new AbortController().signal });

describe('the servers of others', () => {
  it('are not changed if no protection is switched off', async () => {
    expect(without()).toBe(ports);
    const others = without('journal');
    await expect(call(others)).rejects.toMatchObject({ code: 'PROVIDER_STREAM_BROKEN' });
    await expect(query(others)).rejects.toMatchObject({ code: 'SEARCH_UNAVAILABLE' });
  });

  it('without call-retries are called once', async () => {
    await expect(call(without('call-retries'))).rejects.toThrow();
    expect(calls.at(-1)).toEqual({ ...request, attempts: 1 });
  });

  it('without whole-replies have answered what arrived of a broken stream, which viewers saw too', async () => {
    const seen: (string | undefined)[] = [];
    expect(await call(without('whole-replies'), ({ content }) => seen.push(content))).toMatchObject({
      content: 'The ',
      finishReason: 'stop',
    });
    expect(seen).toEqual(['The ']);
  });

  it('without search-failures have found nothing', async () => {
    expect(await query(without('search-failures'))).toEqual([]);
  });

  it('without graph-failures have stored what they did not', async () => {
    const of = without('graph-failures').graph!;
    expect(await of.addSynthesis({} as never)).toMatchObject({ created: true });
    expect(await of.addTriples({} as never)).toMatchObject({ added: 0 });
  });
});
