import { Failure, noUsage, estimatePrompt } from '@conclave/contracts';
import { defaultBreaker, type CallWatch, type ModelReply, type Models, type Search, type SearchHit } from '@conclave/ports';
import type { Random } from '../faults/random.js';
import { markOf } from './marks.js';
import { replyTo, topicOf, type MarkedCall } from './replies.js';
import { through } from './port-view.js';
import { never } from './storm.js';
import type { LivingProcess, ModelWorld } from './surroundings.js';

/** A scripted committee: it replies what the roles in the prompts ask for, slowly and with the faults of the plan. */
export function simulatedModels(process: LivingProcess, world: ModelWorld): Models {
  const { storm } = process.world;
  return {
    list: async () => [],
    providers: async () => [
      { name: 'fake', reachable: true, local: true, paid: true, note: '', maxConcurrency: storm.plan.modelSlots, breaker: defaultBreaker },
    ],
    close: async () => undefined,
    // Only runs are simulated; no client of this world asks a model directly.
    pass: () => Promise.reject(new Failure('MODEL_NOT_FOUND')),
    async call(request, watch) {
      const { runId, reached } = process.callMade();
      const { observations } = process.world;
      observations.read(runId!, request.messages.map(({ content }) => content).join('\n'));
      return through(process, 'models.call', 'models', [], async () => {
        if (watch.signal.aborted) throw new Failure('CALL_CANCELLED');
        const ended = reached();
        try {
          return await answer(process, world, { ...request, mark: markOf(runId!) }, watch);
        } finally {
          if (!process.dead) ended();
        }
      });
    },
  };
}

async function answer(process: LivingProcess, world: ModelWorld, request: MarkedCall, { signal, onDelta }: CallWatch): Promise<ModelReply> {
  const { storm } = process.world;
  const { random } = world;
  const began = Date.now();
  world.calls += 1;
  const number = world.calls;
  const pause = async (ms: number): Promise<void> => {
    const left = began + request.timeoutMs - Date.now();
    await sleepUnless(Math.min(ms, left), signal);
    if (process.dead) return never();
    if (signal.aborted) throw new Failure('CALL_CANCELLED');
    if (Date.now() - began >= request.timeoutMs) throw new Failure('CALL_TIMEOUT');
  };
  if (storm.chance(storm.plan.stall)) await pause(Number.MAX_SAFE_INTEGER);
  await pause(random.between(20, random.chance(0.1) ? 4_000 : 400));
  const broken = storm.chance(storm.plan.modelFault);
  if (broken && random.chance(0.4)) throw new Failure(random.pick(['PROVIDER_FAILED', 'PROVIDER_RATE_LIMITED'] as const));
  const content =
    broken && random.chance(0.3) ? `I would rather chat (${number}).` : replyTo(request, number, process.world.plan.features, random);
  const breaksAt = broken ? random.between(1, 3) : Number.POSITIVE_INFINITY;
  const pieces = inPieces(content, random);
  for (const [index, piece] of pieces.entries()) {
    if (index >= breaksAt) throw new Failure('PROVIDER_STREAM_BROKEN');
    onDelta?.({ content: piece });
    if (process.dead) return never();
    await pause(random.between(5, 120));
  }
  return {
    content,
    reasoning: '',
    finishReason: 'stop',
    usage: { ...noUsage, calls: 1, prompt: estimatePrompt(request.messages), completion: Math.ceil(content.length / 4) },
    reportedModel: 'fake',
    firstTokenMs: 1,
    durationMs: Date.now() - began,
  };
}

function inPieces(text: string, random: Random): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = random.between(10, 80);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

/** One hit per query, after a while; sometimes it is unavailable or has a bug. */
export function simulatedSearch(process: LivingProcess, world: ModelWorld): Search {
  const { storm } = process.world;
  return {
    kind: 'corpus',
    description: 'simulated',
    health: async () => null,
    close: async () => undefined,
    async query({ query, signal }): Promise<readonly SearchHit[]> {
      const { reached } = process.callMade();
      return through(process, 'search.query', 'search', [], async () => {
        if (signal.aborted) throw new Failure('CALL_CANCELLED');
        const ended = reached();
        try {
          await sleepUnless(world.random.between(5, 300), signal);
          if (process.dead) return await never<SearchHit[]>();
          if (signal.aborted) throw new Failure('CALL_CANCELLED');
          if (storm.chance(storm.plan.handlerFault)) throw new TypeError('A simulated bug of a search client.');
          if (storm.chance(storm.plan.modelFault)) throw new Failure('SEARCH_UNAVAILABLE');
          const hop = /hop(\d+)/.exec(query)?.[1];
          return [{ title: query, url: null, snippet: `fact of hop${hop} on ${topicOf(`topic ${query}`)}` }];
        } finally {
          if (!process.dead) ended();
        }
      });
    },
  };
}

export function sleepUnless(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 2 ** 30) return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, Math.max(0, ms));
    signal.addEventListener('abort', over);
  });
}
