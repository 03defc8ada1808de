import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const stackFile = fileURLToPath(new URL('../../../../../deploy/.stack/env.json', import.meta.url));

/** Brokers of the real cluster for int specs: KAFKA_BROKERS, else those started by `npm run stack -- up`. */
export function realBrokers(): string[] {
  const said =
    process.env['KAFKA_BROKERS'] ??
    (existsSync(stackFile) ? (JSON.parse(readFileSync(stackFile, 'utf8')) as Record<string, string>)['KAFKA_BROKERS'] : undefined);
  if (!said) throw new Error('These tests need a Kafka broker: run `npm run stack -- up`, or set KAFKA_BROKERS=host:port.');
  return said.split(',').map((broker) => broker.trim());
}
