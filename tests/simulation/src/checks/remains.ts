import type { Surroundings } from '../world/surroundings.js';

/** Something that outlives a run, for later questions. */
export interface Kept {
  readonly tenant: string;
  /** Run that left it; null if it names none. */
  readonly of: string | null;
  readonly where: string;
  readonly store: 'caches' | 'vectors' | 'graph';
  readonly text: string;
  /** Whether later runs can be served with it; not so for counts, marks and ratings. */
  readonly serves: boolean;
}

/** Keys of what is noted about a run without any of its texts, such as which models it asked. */
const notes = /^(?:experts|rating|learned|results|delivered)\//;

/** Everything in the caches, the vectors and the knowledge graph. The parts of the memory adapters are read by their fields. */
export function keptOf({ stores, vectorStore, graphStore }: Surroundings): readonly Kept[] {
  const caches = [...insideOf<Map<string, Map<string, { text: string; tags: readonly string[] }>>>(stores.caches, 'tenants')].flatMap(
    ([tenant, entries]) =>
      [...entries].map(([key, { text, tags }]): Kept => ({
        tenant,
        of: tags.find((tag) => tag.startsWith('run:'))?.slice('run:'.length) ?? null,
        where: `the cache ${key}`,
        store: 'caches',
        text: `${key} ${text}`,
        serves: !notes.test(key),
      })),
  );
  type Records = Map<
    string,
    { tenant: string; name: string; records: Map<string, { id: string; text: string; metadata: Record<string, unknown> }> }
  >;
  const vectors = [...insideOf<Records>(vectorStore, 'collections').values()].flatMap(({ tenant, name, records }) =>
    [...records.values()].map(({ id, text, metadata }): Kept => ({
      tenant,
      of: typeof metadata['run'] === 'string' ? metadata['run'] : id.startsWith('run_') ? id : null,
      where: `the vectors ${name} ${id}`,
      store: 'vectors',
      text: `${text} ${JSON.stringify(metadata)}`,
      serves: true,
    })),
  );
  const graph = [...insideOf<Map<string, object>>(graphStore, 'tenants')].flatMap(([tenant, knowledge]) => graphOf(tenant, knowledge));
  return [...caches, ...vectors, ...graph];
}

function graphOf(tenant: string, knowledge: object): readonly Kept[] {
  const syntheses = insideOf<Map<string, { write: unknown; origins: Map<string, unknown> }>>(knowledge, 'syntheses');
  const learned = [...syntheses].flatMap(([id, { write, origins }]) =>
    [...origins].map(([run, origin]): Kept => ({
      ...{ tenant, of: run, where: `the insight ${id}`, serves: true, store: 'graph' },
      text: JSON.stringify(origins.size > 1 ? origin : [write, origin]),
    })),
  );
  const taught = insideOf<Map<string, Set<string>>>(knowledge, 'taught');
  const relations = insideOf<Map<string, object>>(knowledge, 'relations');
  const stated = [...taught].flatMap(([run, ids]) =>
    [...ids].map((id): Kept => ({
      ...{ tenant, of: run, where: `the relation ${id}`, serves: true, store: 'graph' },
      text: [...taught.values()].filter((others) => others.has(id)).length > 1 ? '' : JSON.stringify(relations.get(id) ?? null),
    })),
  );
  const stray = [...relations].filter(([id]) => ![...taught.values()].some((ids) => ids.has(id)));
  const entities = insideOf<Map<string, { name: string }>>(knowledge, 'entities');
  return [
    ...learned,
    ...stated,
    ...stray.map(([id, relation]): Kept => ({
      tenant,
      of: null,
      where: `the relation ${id}`,
      text: JSON.stringify(relation),
      serves: true,
      store: 'graph',
    })),
    ...[...entities].map(([normal, { name }]): Kept => ({
      tenant,
      of: null,
      where: `the entity ${normal}`,
      text: name,
      serves: true,
      store: 'graph',
    })),
  ];
}

/** A private field of a memory adapter. */
const insideOf = <T>(store: object, field: string): T => (store as Record<string, unknown>)[field] as T;
