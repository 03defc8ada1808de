import { addUsage, Failure, noUsage, type Usage } from '@conclave/contracts';
import { overriding, type ProbedPorts } from '@conclave/platform';
import type { CallWatch, KnowledgeGraph, Models, Search } from '@conclave/ports';
import { overlooking } from './overlooking.js';
import type { Protections } from './protections.js';

/** Switches off protections against servers of others: those of models, of the search and of the knowledge graph. */
export function unprotectedServers<P extends ProbedPorts>(ports: P, off: Protections): P {
  const { models, search, graph } = ports;
  const changed: Partial<ProbedPorts> = {
    ...(models && off.has('call-retries') ? { models: calledOnce(models) } : {}),
    ...(models && off.has('whole-replies') ? { models: believingFragments(models) } : {}),
    ...(search && off.has('search-failures') ? { search: findingNothing(search) } : {}),
    ...(graph && off.has('graph-failures') ? { graph: forgettingFailures(graph) } : {}),
  };
  return Object.keys(changed).length === 0 ? ports : overriding(ports, changed as Partial<P>);
}

const calledOnce = (models: Models): Models =>
  overriding(models, { call: (request, watch) => models.call({ ...request, attempts: 1 }, watch) });

/** Returns what had arrived of a broken stream. */
const believingFragments = (models: Models): Models =>
  overriding(models, {
    call: async (request, watch) => {
      let content = '';
      const onDelta: CallWatch['onDelta'] = (delta) => {
        content += delta.content ?? '';
        watch.onDelta?.(delta);
      };
      try {
        return await models.call(request, { ...watch, onDelta });
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'PROVIDER_STREAM_BROKEN') throw error;
        const usage = addUsage(noUsage, error.options.context?.['usage'] as Usage);
        return { content, reasoning: '', finishReason: 'stop', usage, reportedModel: null, firstTokenMs: null, durationMs: 1 };
      }
    },
  });

const findingNothing = (search: Search): Search =>
  overriding(search, { query: (request) => overlooking('SEARCH_UNAVAILABLE', () => search.query(request), []) });

const forgettingFailures = (graph: KnowledgeGraph): KnowledgeGraph =>
  overriding(graph, {
    addSynthesis: (synthesis) => overlooking('GRAPH_UNAVAILABLE', () => graph.addSynthesis(synthesis), { id: '', created: true }),
    addTriples: (write) =>
      overlooking('GRAPH_UNAVAILABLE', () => graph.addTriples(write), { added: 0, confirmed: 0, refused: 0, quarantined: [] }),
  });
