import { setTimeout as delay } from 'node:timers/promises';
import { until, type ServedCall } from '@conclave/test-support';
import { ask, byAdmin, ChatStream, command, roleOf, runEnd, startRun, user } from '@conclave/test-support/system';
import { Redis } from 'ioredis';
import { wants } from './committee.js';
import type { Expected } from './faults.js';
import { silentMs, troubledQuestion, troubles, type Troubled } from './troubled-system.js';

/** A fault in a distributed system that lasts as long as the test needs it, and the alerts that must report it. */
export interface Cause {
  readonly cause: string;
  readonly alerts: readonly Expected[];
  /** When the cause begins: causes of one phase run at the same time, and phases run one after the other. */
  readonly phase: Phase;
  /** The phase that waits for its alerts, if they fire in a later one. */
  readonly awaited?: Phase;
  /** Causes the fault until `over` is aborted. Leaves nothing broken that later phases need. */
  make(troubled: Troubled, over: AbortSignal): Promise<void>;
}

export const phases = {
  load: 'models, people, workers and records',
  stores: 'stores and processes',
  gone: 'what is gone for good, and what took minutes',
  standstill: 'a state store that is gone',
} as const;
export type Phase = keyof typeof phases;

/** Milliseconds within which every process is scraped. */
const scrapesMs = 4_000;
/** Milliseconds for which the merger is frozen: above the threshold of slow commands (10 s), below that of a dead process (15 s here). */
const frozenMs = 11_000;
/** Runs of the large committee, 16 tasks each: more records than the threshold of the lag (500). */
const crowdedRuns = 36;

async function repeat(over: AbortSignal, everyMs: number, once: () => Promise<unknown>): Promise<void> {
  while (!over.aborted) {
    await once();
    await delay(everyMs);
  }
}

/** Starts a run whose expert never answers; resolves to its id once the expert was called. */
async function muteRun({ system }: Troubled, model: string): Promise<string> {
  const input = troubledQuestion(troubles.mute);
  const { body } = await startRun(system.url(), { model, input });
  const isIt = (call: ServedCall): boolean => roleOf(call) === 'expert' && JSON.stringify(call.messages).includes(input);
  await until('the call of the expert', () => system.models.calls.some(isIt), { timeoutMs: 60_000, everyMs: 50 });
  return body.id;
}

/** Overwrites the stored header and state of a run with something that is neither. */
async function damage({ system, redisUrl }: Troubled, runId: string): Promise<void> {
  const redis = new Redis(redisUrl);
  try {
    const keys = Array.from({ length: 32 }, (_, bucket) => `${system.prefix}{${bucket}}:run:${runId}:run`);
    const found = await Promise.all(keys.map(async (key) => ((await redis.hexists(key, 'state')) === 1 ? [key] : [])));
    const [key] = found.flat();
    if (!key) throw new Error(`${runId} has no state in Redis.`);
    await redis.hset(key, { header: 'damaged', state: 'damaged' });
  } finally {
    redis.disconnect();
  }
}

export const causes: readonly Cause[] = [
  {
    cause: 'a model that is silent for two and a half minutes',
    alerts: [
      { alert: 'ConclaveRunsSlow', labels: { template: 'patient' } },
      { alert: 'ConclaveFirstContentSlow', labels: { endpoint: 'chat' } },
    ],
    phase: 'load',
    awaited: 'gone',
    make: async ({ system }) => {
      const one = async (...words: readonly string[]): Promise<void> => {
        const chat = await ChatStream.open(system.url(), { model: 'patient', messages: user(troubledQuestion(...words)) });
        await chat.end(silentMs + 120_000);
        if (chat.error) throw new Error(`The patient run failed: ${chat.error.message}`);
      };
      // Prometheus measures growth only in a series that it has already scraped.
      await one();
      await Promise.all(
        [0, 4_000, 8_000].map(async (ms) => {
          await delay(ms);
          await one(troubles.silent);
        }),
      );
    },
  },
  {
    cause: 'a model server that accepts no key',
    alerts: [
      { alert: 'ConclaveProviderRefuses', labels: { provider: 'locked', error_type: 'provider_auth' } },
      { alert: 'ConclaveHttpErrors', labels: {} },
    ],
    phase: 'load',
    make: ({ system }, over) =>
      repeat(over, 400, async () => {
        const { status } = await ask(system.url(), { model: 'm@locked', messages: user('May I come in?') });
        if (status !== 502) throw new Error(`A call without a valid key got ${status}.`);
      }),
  },
  {
    cause: 'a model that refuses the prompts of runs',
    alerts: [{ alert: 'ConclaveRunsFail', labels: { template: 'alone' } }],
    phase: 'load',
    make: ({ system }, over) =>
      repeat(over, 1_000, () => startRun(system.url(), { model: 'alone', input: troubledQuestion(wants.failure) })),
  },
  {
    cause: 'a judge that answers nonsense',
    alerts: [{ alert: 'ConclaveGapChecksUnreadable', labels: {} }],
    phase: 'load',
    make: ({ system }, over) =>
      repeat(over, 500, () => ask(system.url(), { model: 'judged', messages: user(troubledQuestion(troubles.vague)) })),
  },
  {
    cause: 'many runs with a model that never finishes, and few workers',
    alerts: [
      { alert: 'ConclaveLag', labels: { group: 'tasks.guests' } },
      { alert: 'ConclaveTasksWait', labels: { class: 'guests' } },
      { alert: 'ConclaveRunsRefused', labels: { reason: 'queue_too_long' } },
    ],
    phase: 'load',
    make: async ({ system }, over) => {
      const one = () => startRun(system.url(), { model: 'crowded', input: troubledQuestion(troubles.crowd) });
      // All at the same time, because later ones are refused.
      await Promise.all(Array.from({ length: crowdedRuns }, one));
      await repeat(over, 1_000, one);
    },
  },
  {
    cause: 'a broken PDF',
    alerts: [{ alert: 'ConclaveDocumentsFail', labels: { outcome: 'failed' } }],
    phase: 'load',
    make: async ({ system }) => {
      const collections = `${system.url()}/v1/collections`;
      const made = await fetch(collections, {
        method: 'POST',
        headers: { ...byAdmin, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'broken', description: 'Papers that were wet.' }),
      });
      if (!made.ok) throw new Error(`POST /collections: ${made.status} ${await made.text()}`);
      const form = new FormData();
      form.append('file', new File(['%PDF-1.4\nand then water\n'], 'wet.pdf', { type: 'application/pdf' }));
      const sent = await fetch(`${collections}/broken/documents`, { method: 'POST', headers: byAdmin, body: form });
      if (!sent.ok) throw new Error(`POST documents: ${sent.status} ${await sent.text()}`);
    },
  },
  {
    cause: 'a webhook whose receiver does not exist',
    alerts: [{ alert: 'ConclaveWebhooksDead', labels: { webhook: 'team' } }],
    phase: 'load',
    make: async ({ system }) => {
      const { status, body } = await startRun(system.url(), { model: 'alone', input: troubledQuestion(), webhook: 'team' });
      if (status !== 202) throw new Error(`A run with a webhook got ${status}: ${body.error?.message}`);
    },
  },
  {
    cause: 'a gateway that gets a fifth of the processor time',
    alerts: [{ alert: 'ConclaveEventLoopLag', labels: { job: 'gateway' } }],
    phase: 'load',
    make: ({ system }, over) =>
      repeat(over, 200, async () => {
        const gateway = system.process('gateway', 2);
        gateway.signal('SIGSTOP');
        await delay(800);
        gateway.signal('SIGCONT');
      }),
  },
  {
    cause: 'a run whose header and state another program has overwritten in Redis',
    alerts: [
      { alert: 'ConclaveTimersDropped', labels: { job: 'merger' } },
      { alert: 'ConclaveUntypedErrors', labels: { job: 'gateway' } },
    ],
    phase: 'load',
    make: async (troubled) => {
      const id = await muteRun(troubled, 'brief');
      await damage(troubled, id);
      const { status } = await fetch(`${troubled.system.url()}/v1/runs/${id}`);
      if (status !== 500) throw new Error(`The damaged run got ${status}.`);
    },
  },
  {
    cause: 'a knowledge graph and a vector store that refuse connections',
    alerts: [
      { alert: 'ConclaveStoreFails', labels: { store: 'graph' } },
      { alert: 'ConclaveStoreFails', labels: { store: 'vectors' } },
      { alert: 'ConclaveCacheFails', labels: { cache: 'semantic' } },
    ],
    phase: 'stores',
    make: async ({ system, graph, vectors }, over) => {
      for (const proxy of [graph, vectors]) proxy.refuse(true);
      const one = async (): Promise<void> => {
        const { status } = await ask(system.url(), { model: 'knowing', messages: user(troubledQuestion(troubles.known)) });
        if (status !== 200) throw new Error(`A run without its stores got ${status}.`);
      };
      await Promise.all(
        Array.from({ length: 8 }, async (_, n) => {
          await delay(n * 500);
          await repeat(over, 500, one);
        }),
      );
      for (const proxy of [graph, vectors]) proxy.refuse(false);
    },
  },
  {
    cause: 'a worker that is killed again and again',
    alerts: [{ alert: 'ConclaveRestarts', labels: { job: 'graph-ingest' } }],
    phase: 'stores',
    make: async ({ system, prometheus }, over) => {
      const url = `${system.metricUrl('graph-ingest')}/metrics`;
      await repeat(over, 0, async () => {
        await system.process('graph-ingest').kill();
        // The process is not ready as long as its stores refuse connections, but its metrics can be read.
        await until('the metrics of the next process', async () => (await fetch(url)).ok, { timeoutMs: 60_000, everyMs: 100 });
        await delay(1_500 * prometheus.scrapeS);
      });
    },
  },
  {
    cause: 'a merger that is frozen while people cancel their runs',
    alerts: [{ alert: 'ConclaveCommandsSlow', labels: { command: 'cancel' } }],
    phase: 'stores',
    make: async (troubled, over) => {
      const { system } = troubled;
      const cancel = (id: string) => command(system.url(), id, { command: 'cancel' });
      // Prometheus measures growth only in a series that it has already scraped.
      const quick = await muteRun(troubled, 'alone');
      await cancel(quick);
      await runEnd(system.url(), quick);
      await delay(scrapesMs);
      const merger = system.process('merger');
      for (let n = 0; n < 3 && !over.aborted; n += 1) {
        const id = await muteRun(troubled, 'alone');
        merger.signal('SIGSTOP');
        try {
          await Promise.all([cancel(id), delay(frozenMs)]);
        } finally {
          merger.signal('SIGCONT');
        }
        await runEnd(system.url(), id);
        await delay(scrapesMs);
      }
    },
  },
  {
    cause: 'the only worker of a service killed for good',
    alerts: [{ alert: 'ConclaveServiceGone', labels: { service: 'graph-ingest' } }],
    phase: 'gone',
    make: async ({ system }) => void (await system.process('graph-ingest').kill('SIGKILL', { forGood: true })),
  },
  {
    cause: 'a Redis that refuses connections while runs are under way',
    alerts: [
      { alert: 'ConclaveStandsStill', labels: { group: 'merger' } },
      // For any group that had work to do.
      { alert: 'ConclaveStandsStill', labels: {} },
    ],
    phase: 'standstill',
    make: async ({ system, redis }, over) => {
      for (let n = 0; n < 8; n += 1) await startRun(system.url(), { model: 'judged', input: troubledQuestion() });
      redis.refuse(true);
      await repeat(over, 200, () => Promise.resolve());
      redis.refuse(false);
    },
  },
];

/** Further alerts that these causes rightly raise. */
export const consequences: readonly Expected[] = [
  // The prompts that the model refuses.
  { alert: 'ConclaveProviderRefuses', labels: { provider: 'fake', error_type: 'provider_refused' } },
  // The next result of the run whose state is damaged, unless its merger still has the state in memory, and the command that would end the run.
  { alert: 'ConclaveDeadLetters', labels: { service: 'merger', topic: 'results.ready' } },
  { alert: 'ConclaveDeadLetters', labels: { service: 'merger', topic: 'run.commands' } },
  // The delivery that was given up.
  { alert: 'ConclaveDeadLetters', labels: { service: 'webhooks' } },
  // The worker that is killed for good.
  { alert: 'ConclaveProcessDown', labels: { job: 'graph-ingest' } },
];
