import { overriding, type ProbedPorts, type ProbePoint } from '@conclave/platform';
import type { CrashPoints } from './crash-point.js';

type Work = (...args: never[]) => Promise<unknown>;

/**
 * The ports of one service, with a crash point after each write to caches, vectors, knowledge graph and settings, and after each tool call:
 * the effect is stored but not yet reported.
 */
export function crashingPorts<P extends ProbedPorts>(ports: P, crashPoints: CrashPoints, service: string): P {
  // Learning from runs and webhooks run in the engine's process.
  const where = service === 'learning' || service === 'webhooks' ? 'merger' : service;
  const behind = <W extends Work>(point: ProbePoint, work: W): W =>
    (async (...args: Parameters<W>) => {
      const result: unknown = await work(...args);
      crashPoints.reached(where, point, point);
      return result;
    }) as unknown as W;
  const { state, graph, vectors, tools } = ports;
  const changed: Partial<ProbedPorts> = {
    state: overriding(state, {
      caches: overriding(state.caches, { write: behind('cache-written', state.caches.write.bind(state.caches)) }),
      settings: overriding(state.settings, { write: behind('setting-written', state.settings.write.bind(state.settings)) }),
    }),
    ...(graph
      ? {
          graph: overriding(graph, {
            addSynthesis: behind('graph-written', graph.addSynthesis.bind(graph)),
            addTriples: behind('graph-written', graph.addTriples.bind(graph)),
          }),
        }
      : {}),
    ...(vectors ? { vectors: overriding(vectors, { upsert: behind('vectors-written', vectors.upsert.bind(vectors)) }) } : {}),
    ...(tools ? { tools: overriding(tools, { call: behind('tool-called', tools.call.bind(tools)) }) } : {}),
  };
  return overriding(ports, changed as Partial<P>);
}
