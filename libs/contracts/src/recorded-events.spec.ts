import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { events, specOf } from './events/index.js';

const folder = new URL('./__fixtures__/events/', import.meta.url);
interface Recorded {
  readonly file: string;
  readonly shape: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
const recorded = readdirSync(folder).flatMap((file) =>
  readFileSync(new URL(file, folder), 'utf8')
    .trim()
    .split('\n')
    .map((line): Recorded => ({ file, ...(JSON.parse(line) as Omit<Recorded, 'file'>) })),
);

/** Events recorded by `tests/support/recording/record-events.mjs` from running systems: a topic may still contain each of them. */
describe('an event recorded earlier', () => {
  it.each(recorded.map((event) => [event.file, event.shape, event] as const))(
    'of %s is still read: %s',
    (_file, _shape, { headers, body }) => {
      const spec = specOf(headers['ce_type']!);
      expect(spec).toBeDefined();
      const parsed = spec!.schema.safeParse(JSON.parse(body));
      expect(parsed.error).toBeUndefined();
      // Fields added by later versions get their defaults; nothing recorded is lost.
      expect(parsed.data).toMatchObject(JSON.parse(body) as object);
    },
  );

  it('covers every event that services send', () => {
    const types = new Set(recorded.map(({ headers }) => headers['ce_type']));
    expect([...types].sort()).toEqual(events.map(({ type }) => type).sort());
  });

  it.each([
    ['PlanRequested', /attachments$/],
    ['PlanRequested', /cached$/],
    ['PlanRequested', /waves/],
    ['RunCompleted', /waves$/],
    ...['math', 'mcp', 'graph', 'collections', 'research', 'hints', 'critic', 'thinking'].map(
      (capability) => ['TaskDispatched', new RegExp(`\\b${capability}\\b`)] as const,
    ),
  ] as const)('covers a %s of the shape %s', (type, shape) => {
    expect(recorded.filter((event) => event.headers['ce_type'] === type && shape.test(event.shape))).not.toEqual([]);
  });
});
