import { describe, expect, it } from '@jest/globals';
import { events } from '../events/index.js';
import { Configuration, Environment, failures, topicsFor } from '../index.js';
import { shapeOf, type Shape } from '../configuration/shape.js';
import { asyncApiDocument } from './async-api.js';
import { printDocs } from './print-docs.js';

const docs = printDocs();

describe('the printed documents', () => {
  it('are the same every time', () => {
    expect(printDocs()).toEqual(docs);
  });

  it('name every event, topic and failure', () => {
    for (const { type } of events) expect(docs['docs/generated/events.md']).toContain(`| \`${type}\` |`);
    for (const { name } of topicsFor()) expect(docs['docs/generated/events.md']).toContain(`| \`${name}\` |`);
    for (const code of Object.keys(failures)) expect(docs['docs/generated/failures.md']).toContain(`| \`${code}\` |`);
  });

  it('contain a sentence for every setting and variable', () => {
    const silent: string[] = [];
    const visit = (shape: Shape, path: string): void => {
      for (const one of shape.anyOf ?? [shape]) {
        for (const [key, inner] of Object.entries(one.properties ?? {})) {
          if (!inner.description) silent.push(`${path}.${key}`);
          visit(inner, `${path}.${key}`);
        }
        if (typeof one.additionalProperties === 'object') visit(one.additionalProperties, `${path}.<name>`);
      }
    };
    visit(shapeOf(Configuration), '');
    visit(shapeOf(Environment), 'environment');
    expect(silent).toEqual([]);
  });

  it('show defaults and ranges in the configuration table', () => {
    const text = docs['docs/generated/configuration.md'];
    expect(text).toContain('| `templates.<name>.max_agentic_rounds` | a whole number from 0 to 4 | `0` |');
    expect(text).toContain('| `PORT` | a port number from 0 to 65535 |');
  });

  it('draw an arrow for the loop', () => {
    expect(docs['docs/generated/flow.md']).toMatch(/merger -- "[^"]*\bGapDetected\b[^"]*" --> planner/);
  });

  it('refer only to channels and messages that exist in the AsyncAPI document', () => {
    const document = asyncApiDocument('1') as {
      channels: Record<string, { messages: object }>;
      components: { messages: Record<string, unknown> };
    };
    const references = [...JSON.stringify(document).matchAll(/"#\/(channels|components\/messages)\/([^"]+)"/g)].map(([, kind, rest]) => [
      kind,
      rest!,
    ]);
    expect(references.length).toBeGreaterThan(20);
    for (const [kind, rest] of references) {
      if (kind === 'components/messages') expect(document.components.messages).toHaveProperty([rest!]);
      else {
        const [channel, , message] = rest!.split('/');
        expect(document.channels).toHaveProperty([channel!]);
        if (message) expect(document.channels[channel!]!.messages).toHaveProperty([message]);
      }
    }
  });
});
