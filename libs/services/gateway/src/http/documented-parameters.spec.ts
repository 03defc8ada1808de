import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routes } from '@conclave/contracts';
import { MemoryGraphStore } from '@conclave/ports';
import { byAdmin, World } from '../__fixtures__/world.js';

interface Documented {
  readonly path: string;
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
  /** The other parameters that the route needs. */
  readonly others: string;
}

/** Parameters of every route that needs no id. */
const documented: readonly Documented[] = routes
  .filter(({ method, path }) => method === 'GET' && !path.includes('{'))
  .flatMap(({ path, query = [] }) =>
    query.map(({ name, schema = {} }) => ({
      ...{ path, name, schema },
      others: query.flatMap((other) => (other.required && other.name !== name ? [`&${other.name}=run_12345678`] : [])).join(''),
    })),
  );
const needed = routes.flatMap(({ path, query = [] }) =>
  path.includes('{') ? [] : query.flatMap(({ name, required }) => (required ? [[path, name] as const] : [])),
);

let world: World;
beforeAll(async () => {
  world = await World.open({ parts: { graph: new MemoryGraphStore().connect() } });
});
afterAll(() => world.close());

const get = async (path: string) => {
  const response = await fetch(world.url + path, { headers: byAdmin });
  const text = await response.text();
  return { status: response.status, text };
};
const isRefused = async (path: string, name: string) => {
  const { status, text } = await get(path);
  expect([path, status, text]).toEqual([path, 400, expect.stringContaining(`"param":"${name}"`)]);
};

describe('parameters in queries', () => {
  it('are a fair sample', () => {
    expect(documented.length).toBeGreaterThan(25);
    expect(needed).toContainEqual(['/v1/events', 'runs']);
  });

  it.each(documented.filter(({ schema }) => Object.keys(schema).length > 0 && !('minLength' in schema)))(
    '$name of $path is refused with a value that its document does not allow',
    async ({ path, name, schema, others }) => {
      await isRefused(
        `${path}?${name}=${schema['type'] === 'string' && !schema['enum'] && !schema['format'] ? ',' : 'perhaps'}${others}`,
        name,
      );
      if (schema['minimum'] === 1) await isRefused(`${path}?${name}=0${others}`, name);
    },
  );

  it.each(documented.filter(({ schema }) => 'enum' in schema))(
    '$name of $path takes every documented word',
    async ({ path, name, schema }) => {
      for (const word of schema['enum'] as readonly string[])
        expect([word, (await get(`${path}?${name}=${word}`)).status]).toEqual([word, 200]);
    },
  );

  it.each(documented.filter(({ schema }) => schema['type'] === 'integer' && !('maximum' in schema)))(
    '$name of $path takes large numbers',
    async ({ path, name }) => {
      expect((await get(`${path}?${name}=999999999999`)).status).toBe(200);
    },
  );

  it.each(needed)('%s cannot be read without %s', async (path, name) => isRefused(path, name));
});
