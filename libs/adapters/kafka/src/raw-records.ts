import type { IHeaders, KafkaMessage, Message } from 'kafkajs';
import type { Headers, RawRecord } from '@conclave/ports';

/** Converts a message of the broker. `topic` is without prefix; `fresh` as in `RawRecord`. */
export const rawRecord = (topic: string, partition: number, message: KafkaMessage, fresh = false): RawRecord => ({
  topic,
  partition,
  offset: message.offset,
  appendedAt: Number(message.timestamp),
  key: message.key === null ? null : message.key.toString('utf8'),
  headers: headersOf(message.headers),
  raw: message.value,
  ...(fresh ? { fresh } : {}),
});

/** Converts a record to a message for the broker. */
export const messageOf = ({ key, headers, raw }: Pick<RawRecord, 'key' | 'headers' | 'raw'>): Message => ({
  key,
  value: raw,
  headers: { ...headers },
});

/** Upper bound of the bytes a message takes in a request. */
export const sizeOf = ({ key, headers, raw }: Pick<RawRecord, 'key' | 'headers' | 'raw'>): number =>
  Object.entries(headers).reduce(
    (sum, [name, value]) => sum + 3 * (name.length + value.length) + 10,
    100 + 3 * (key?.length ?? 0) + (raw?.byteLength ?? 0),
  );

/** The last value of a repeated header wins. */
function headersOf(headers: IHeaders | undefined): Headers {
  const text: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) text[name] = last.toString('utf8');
  }
  return text;
}
