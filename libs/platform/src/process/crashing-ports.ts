import type { CrashPointName } from '@conclave/contracts';
import type { Ports } from '../ports-module.js';
import { noCrashPoints, type CrashPoints } from './crash-point.js';
import { overriding } from './overriding.js';

type Work = (...args: never[]) => Promise<unknown>;

/**
 * The ports of one service with a point to die at behind each write into caches, vectors, knowledge graph and settings, and behind each call
 * of a tool: its effect is there, and nobody knows of it yet. Where no point is asked for they are the ports themselves.
 */
export function crashingPorts<P extends Pick<Ports, 'state'> & Partial<Ports>>(ports: P, crashPoints: CrashPoints, service: string): P {
  if (crashPoints === noCrashPoints) return ports;
  // What is learned of runs is learned in the process of the engine.
  const where = service === 'learning' ? 'merger' : service;
  const behind = <W extends Work>(point: CrashPointName, work: W): W =>
    (async (...args: Parameters<W>) => {
      const result: unknown = await work(...args);
      crashPoints.reached(where, point, point);
      return result;
    }) as unknown as W;
  const { state, graph, vectors, tools } = ports;
  const changed: Partial<Ports> = {
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
