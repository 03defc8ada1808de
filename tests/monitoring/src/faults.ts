import type { Mode } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { ask, user, type System } from '@conclave/test-support/system';
import { Kafka, logLevel } from 'kafkajs';
import { nowS, type Alerting } from './prometheus.js';
import type { Watched } from './watched-system.js';

/** An alert that must fire with these labels, and any others. */
export interface Expected {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
}

export const isAbout = ({ name, labels }: Alerting, expected: Expected): boolean =>
  name === expected.alert && Object.entries(expected.labels).every(([label, value]) => labels[label] === value);

/** Something that goes wrong, and the alert that must report it. */
export interface Fault extends Expected {
  readonly cause: string;
  readonly modes: readonly Mode[];
  make(watched: Watched): Promise<void>;
}

/** A record without headers or value on a topic of a distributed system: no service can read it. */
export async function poisonLog({ stack, prefix }: System, topic: string): Promise<void> {
  const kafka = new Kafka({ brokers: stack!.KAFKA_BROKERS.split(','), clientId: 'poison', logLevel: logLevel.NOTHING });
  const producer = kafka.producer();
  await producer.connect();
  try {
    await producer.send({ topic: `${prefix}${topic}`, messages: [{ key: null, value: null }] });
  } finally {
    await producer.disconnect();
  }
}

export const faults: readonly Fault[] = [
  {
    cause: 'a record that nobody can read',
    modes: ['distributed'],
    alert: 'ConclaveDeadLetters',
    labels: { topic: 'gap.detected', service: 'planner' },
    make: ({ system }) => poisonLog(system, 'gap.detected'),
  },
  {
    cause: 'a model server that no longer answers',
    modes: ['embedded', 'distributed'],
    alert: 'ConclaveProviderDown',
    labels: { provider: 'sick' },
    make: async ({ system, breakProvider }) => {
      await breakProvider();
      for (let n = 0; n < 8; n += 1) await ask(system.url(), { model: 'm@sick', messages: user('Are you there?') });
    },
  },
  {
    cause: 'a worker killed with SIGKILL that nobody starts again',
    modes: ['distributed'],
    alert: 'ConclaveProcessDown',
    labels: { job: 'experts' },
    make: async ({ system }) => void (await system.all().get('experts-2')!.kill('SIGKILL', { forGood: true })),
  },
];

/** Causes the fault and waits until its alert fires. Resolves to the seconds that this took. */
export async function alarmed(fault: Fault, watched: Watched, timeoutMs: number): Promise<number> {
  const from = nowS();
  const fires = async (): Promise<boolean> => (await watched.prometheus.fired(from, nowS())).some((one) => isAbout(one, fault));
  if (await fires()) throw new Error(`${fault.alert} fires already.`);
  await fault.make(watched);
  await until(`${fault.alert} to fire after ${fault.cause}`, fires, { timeoutMs, everyMs: 500 });
  return nowS() - from;
}
