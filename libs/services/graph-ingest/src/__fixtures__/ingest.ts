import { KnowledgeProposed, makeEvent, noUsage, RunCompleted } from '@conclave/contracts';
import { noProbe, openMetrics, type DeliveryContext, type LogFields, type Logger } from '@conclave/platform';
import { MemoryGraphStore, MemoryStores, type KnowledgeGraph, type Models } from '@conclave/ports';
import { CallMaker } from '@conclave/calls';
import { GraphIngestHandler } from '../graph-ingest.handler.js';

export const runId = 'run_00000001';

type Completed = RunCompleted['data'];

export const completed = (data: Partial<Completed> = {}, id = runId): RunCompleted =>
  makeEvent(
    RunCompleted,
    { id: `${id}/completed`, runId: id, source: 'merger', time: 5 },
    {
      outcome: 'completed',
      rule: 'D3',
      reason: 'It is complete.',
      reasonCode: 'sufficient',
      question: 'What does aspirin treat?',
      answer: 'Aspirin treats headache.',
      cutShort: false,
      sources: [{ kind: 'web', title: 'Pharmacology', url: null }],
      insight: { summary: 'Aspirin is about pain.', entities: ['Aspirin', 'Pain'], insight_type: 'inference' },
      history: [],
      rounds: 1,
      usage: noUsage,
      caller: { tenant: 'default', actor: 'me' },
      template: { id: 'conclave', version: 'v1', strategy: 'agentic' },
      learning: { graph: 'triples', models: ['m@fake'], prices: {}, contexts: {} },
      failure: null,
      startedAt: 1,
      completedAt: 5,
      ...data,
    },
  );

export const proposed = (data: Partial<KnowledgeProposed['data']> = {}, id = 'feedback-1'): KnowledgeProposed =>
  makeEvent(
    KnowledgeProposed,
    { id, runId, source: 'gateway', time: 6 },
    { kind: 'feedback', tenant: 'default', actor: 'me', text: '', about: runId, rating: 5, proposedAt: 6, ...data },
  );

export const context = { signal: new AbortController().signal } as DeliveryContext;

/** A handler over a graph and stores in memory, with a run that has already ended, as when its record arrives. */
export function ingest(
  options: { readonly replies?: readonly (string | Error)[]; readonly graph?: KnowledgeGraph; readonly stores?: MemoryStores } = {},
) {
  const graph = options.graph ?? new MemoryGraphStore().connect();
  const stores = options.stores ?? new MemoryStores();
  const { state, stream } = stores.connect('one');
  const run = { runId, acceptedAt: 1, header: null, version: 9, state: '{}', status: 'completed', terminal: true };
  stores.runs.rows.set(runId, run);
  const asked: string[] = [];
  const replies = [...(options.replies ?? [])];
  const models: Pick<Models, 'call' | 'providers'> = {
    providers: () => Promise.resolve([]),
    call: ({ model, messages }) => {
      asked.push(`${model} ${messages.map(({ content }) => content).join('\n')}`);
      const reply = replies.shift();
      if (typeof reply !== 'string') return Promise.reject(reply ?? new Error('Nobody expected another call.'));
      const usage = { ...noUsage, calls: 1, prompt: 100, completion: 20 };
      return Promise.resolve({
        content: reply,
        reasoning: '',
        finishReason: 'stop',
        usage,
        reportedModel: null,
        firstTokenMs: 1,
        durationMs: 2,
      });
    },
  };
  const lines: { readonly level: string; readonly message: string; readonly fields: LogFields | undefined }[] = [];
  const at = (level: string) => (message: string, fields?: LogFields) => void lines.push({ level, message, fields });
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => logger };
  const metrics = openMetrics();
  const maker = new CallMaker({
    state,
    stream,
    models: models as Models,
    probe: noProbe,
    logger,
    metrics,
    processId: 'one',
    service: 'graph-ingest',
    storePrompts: 'none',
    guard: null,
  });
  const documents = { ingest: () => Promise.resolve([]), dead: () => Promise.resolve() };
  return { handler: new GraphIngestHandler(graph, state, maker, logger, metrics, documents), graph, stores, asked, lines, metrics };
}
