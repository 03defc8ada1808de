import type { EventSpec } from '../event.js';
import { events } from '../events/index.js';
import { jsonSchemaOf } from '../json-schema.js';
import { shippedClasses, taskTopic, topicsFor } from '../topics.js';

/** Record headers of every event: CloudEvents 1.0 in binary mode, and the trace. */
const headers = {
  type: 'object',
  required: ['ce_specversion', 'ce_id', 'ce_type', 'ce_source', 'ce_time', 'ce_partitionkey', 'ce_runid', 'content-type'],
  properties: {
    ce_specversion: { type: 'string', const: '1.0' },
    ce_id: { type: 'string', description: 'deterministic, semantic id of the event' },
    ce_type: { type: 'string', description: 'type of the event' },
    ce_source: { type: 'string', description: 'service that sent it' },
    ce_time: { type: 'string', format: 'date-time' },
    ce_partitionkey: { type: 'string', description: 'run id, or task id for dispatched tasks' },
    ce_runid: { type: 'string', description: 'run id' },
    ce_dataref: { type: 'string', description: 'set if the body is sent by reference: `sha256:<hex>`' },
    'content-type': { type: 'string', const: 'application/json' },
    traceparent: { type: 'string', description: 'W3C trace context of the sender' },
  },
};

const topicsOf = (spec: EventSpec): readonly string[] =>
  spec.topic.includes('<class>') ? shippedClasses.map((name) => taskTopic(name)) : [spec.topic];

/** The AsyncAPI 3.0 document of every event and topic, as a plain value that depends only on the contracts and the version. */
export function asyncApiDocument(version: string): Record<string, unknown> {
  const all: readonly EventSpec[] = events;
  const channels = Object.fromEntries(
    topicsFor()
      .map((topic) => ({ topic, specs: all.filter((spec) => topicsOf(spec).includes(topic.name)) }))
      .map(({ topic, specs }) => [
        topic.name,
        {
          address: topic.name,
          summary: topic.doc,
          description: `Key: ${topic.key}. ${topic.retentionMs < 0 ? 'Compacted, kept forever.' : `Kept for ${Math.round(topic.retentionMs / 86_400_000)} days.`}`,
          messages: Object.fromEntries(specs.map(({ type }) => [type, { $ref: `#/components/messages/${type}` }])),
        },
      ]),
  );
  const operations = Object.fromEntries(
    all.flatMap((spec) =>
      topicsOf(spec).flatMap((topic) => {
        const of = (action: 'send' | 'receive', service: string) => [
          `${service}.${action}.${spec.type}${topicsOf(spec).length > 1 ? `.${topic}` : ''}`,
          {
            action,
            channel: { $ref: `#/channels/${topic}` },
            messages: [{ $ref: `#/channels/${topic}/messages/${spec.type}` }],
            tags: [{ name: service }],
          },
        ];
        return [...spec.from.map((service) => of('send', service)), ...spec.to.map((service) => of('receive', service))];
      }),
    ),
  );
  const messages = Object.fromEntries(
    all.map((spec) => [
      spec.type,
      {
        name: spec.type,
        summary: spec.doc,
        contentType: 'application/json',
        headers: { $ref: '#/components/schemas/Headers' },
        payload: jsonSchemaOf(spec.schema, 'output', 'draft-7'),
      },
    ]),
  );
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Conclave',
      version,
      description:
        'Every step between two services is an event on a log. Bodies above 64 KB are sent by reference. At least once, effective once: receivers drop repeats by id.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels,
    operations,
    components: { messages, schemas: { Headers: headers } },
  };
}

export const asyncApiText = (version: string): string => `${JSON.stringify(asyncApiDocument(version), null, 2)}\n`;
