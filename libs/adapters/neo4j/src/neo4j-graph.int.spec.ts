import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { relationTypes } from '@conclave/contracts';
import type { SynthesisWrite } from '@conclave/ports';
import { describeKnowledgeGraph } from '@conclave/ports/suites';
import { TcpProxy } from '@conclave/test-support';
import neo4j, { type Driver } from 'neo4j-driver';
import { stackEnvironment } from '@conclave/test-support/real-servers';
import type { Neo4jGraphOptions } from './connection.js';
import { Neo4jGraph } from './neo4j-graph.js';
import * as statements from './statements.js';

/** The real Neo4j shared by int specs: NEO4J_URL, else the one started by `npm run stack -- up`. */
function realServer(): { readonly url: string; readonly user: string; readonly password: string } {
  const said: Record<string, string | undefined> = { ...stackEnvironment(), ...process.env };
  const { NEO4J_URL: url, NEO4J_USER: user = 'neo4j', NEO4J_PASSWORD: password } = said;
  if (!url || !password)
    throw new Error('These tests need Neo4j: run `npm run stack -- up`, or set NEO4J_URL, NEO4J_USER and NEO4J_PASSWORD.');
  return { url, user, password };
}

jest.setTimeout(60_000);

const open = (namespace: string, more: Partial<Neo4jGraphOptions> = {}) => new Neo4jGraph({ ...realServer(), namespace, ...more });
const newNamespace = () => `test-${randomUUID()}:`;

describeKnowledgeGraph('Neo4jGraph', {
  open: async () => {
    const namespace = newNamespace();
    const graph = open(namespace);
    const others: Neo4jGraph[] = [];
    return {
      graph,
      another: async () => {
        const other = open(namespace);
        others.push(other);
        return other;
      },
      dispose: async () => {
        await graph.removeAll();
        await Promise.all([graph, ...others].map((one) => one.close()));
      },
    };
  },
});

const write = (n: number, entities = ['Copper']): SynthesisWrite => ({
  tenant: 'acme',
  runId: `run_${String(n).padStart(8, '0')}`,
  insight: { summary: `Copper fact ${n}.`, entities, insight_type: 'inference' },
  domain: 'materials',
  confidence: 0.5,
  at: 1_700_000_000_000 + n,
});

describe('a graph in Neo4j', () => {
  const namespace = newNamespace();
  let driver: Driver;
  let closing: { close(): Promise<unknown> }[] = [];
  beforeAll(() => {
    const { url, user, password } = realServer();
    driver = neo4j.driver(url, neo4j.auth.basic(user, password), { disableLosslessIntegers: true });
  });
  afterEach(async () => {
    for (const one of closing) await one.close();
    closing = [];
  });
  afterAll(async () => {
    const graph = open(namespace);
    await graph.removeAll();
    await graph.close();
    await driver.close();
  });
  const opened = (more: Partial<Neo4jGraphOptions> = {}): Neo4jGraph => {
    const graph = open(namespace, more);
    closing.push(graph);
    return graph;
  };

  it('has its documented shape', async () => {
    await opened().addSynthesis(write(1, ['Copper', ' Iron ']));
    const { records } = await driver.executeQuery(
      `MATCH (s:Synthesis {tenant: $tenant})-[r:RELATED_TO]->(e:Entity)
       RETURN s.text AS text, s.insight_type AS type, s.domain AS domain, s.confidence AS confidence, type(r) AS link, e.name AS name, e.normal AS normal ORDER BY normal`,
      { tenant: `${namespace}acme` },
    );
    const node = { text: 'Copper fact 1.', type: 'inference', domain: 'materials', confidence: 0.5, link: 'RELATED_TO' };
    expect(records.map((record) => record.toObject())).toEqual([
      { ...node, name: 'Copper', normal: 'copper' },
      { ...node, name: 'Iron', normal: 'iron' },
    ]);
  });

  it('keeps relations as relationships of their type, between entities of their tenant, with all that is known about them', async () => {
    const triple = {
      subject: 'Aspirin (ASS)',
      subjectType: 'drug',
      relation: 'TREATS',
      object: 'Pain',
      objectType: '',
      confidence: 0.5,
    } as const;
    await opened().addTriples({
      tenant: 'shape',
      eventId: 'e',
      runId: 'run_1',
      source: 'tool',
      triples: [triple],
      domain: 'medicine',
      at: 5,
    });
    const { records } = await driver.executeQuery(
      'MATCH (a:Entity {tenant: $tenant})-[r]->(b:Entity) RETURN type(r) AS type, properties(r) AS r, properties(a) AS a, b.tenant AS tenant',
      { tenant: `${namespace}shape` },
    );
    const tenant = `${namespace}shape`;
    expect(records.map((record) => record.toObject())).toEqual([
      {
        type: 'TREATS',
        r: {
          tenant,
          id: expect.stringMatching(/^[0-9a-f]{24}$/),
          subject: 'aspirin',
          relation: 'TREATS',
          object: 'pain',
          confidence: 0.5,
          doubt: 0.55,
          trust: 0.45,
          good: 0,
          bad: 0,
          flagged: false,
          verified: false,
          accepted: false,
          superseded: false,
          source: 'tool',
          domain: 'medicine',
          runId: 'run_1',
          version: 1,
          at: 5,
        },
        a: { tenant, id: expect.any(String), name: 'Aspirin', normal: 'aspirin', type: 'drug', aliases: ['ass'], words: 1 },
        tenant,
      },
    ]);
  });

  it('has one statement per relation type of the list, without values in the text', () => {
    expect(Object.keys(statements.putRelations)).toEqual(relationTypes);
    for (const [type, text] of Object.entries(statements.putRelations))
      expect(text).toContain(`-[r:${type} {tenant: $tenant, id: relation.id}]->`);
    for (const type of relationTypes) expect(type).toMatch(/^[A-Z_]+$/);
  });

  it('has the constraints that keep nodes single, and finds by index', async () => {
    await opened().synthesesAbout({ tenant: 'acme', entities: ['x'], limit: 1 });
    const { records } = await driver.executeQuery(
      'SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH "conclave_" RETURN name ORDER BY name',
    );
    expect(records.map((record) => record.get('name') as string)).toEqual([
      'conclave_entity',
      'conclave_ingested',
      'conclave_learned_run',
      'conclave_quarantined',
      'conclave_rating',
      'conclave_synthesis',
      'conclave_taught',
      'conclave_tenant',
      'conclave_term',
    ]);
  });

  it('writes each synthesis once when many writers share entities in any order', async () => {
    const graphs = [opened(), opened()];
    const names = ['Zinc', 'Tin', 'Lead', 'Gold'];
    const writes = Array.from({ length: 24 }, (_, n) =>
      graphs[n % 2]!.addSynthesis(write(100 + (n % 12), n % 3 ? names : names.toReversed())),
    );
    const created = (await Promise.all(writes)).filter((one) => one.created);
    expect(created).toHaveLength(12);
    expect(await graphs[0]!.synthesesAbout({ tenant: 'acme', entities: ['tin'], limit: 50 })).toHaveLength(12);
  });

  it('survives connections that are cut', async () => {
    const { port, hostname } = new URL(realServer().url);
    const proxy = await TcpProxy.open({ target: { host: hostname, port: Number(port) } });
    closing.push(proxy);
    const graph = opened({ url: `bolt://127.0.0.1:${proxy.port}` });
    for (let n = 200; n < 206; n += 1) {
      const writing = graph.addSynthesis(write(n, ['Bismuth']));
      proxy.cut();
      expect((await writing).id).toMatch(/^[0-9a-f]{16}$/);
    }
    expect(await graph.synthesesAbout({ tenant: 'acme', entities: ['Bismuth'], limit: 50 })).toHaveLength(6);
    for (let n = 0; n < 4; n += 1) {
      const triple = {
        subject: 'Bismuth',
        subjectType: '',
        relation: 'PART_OF',
        object: 'Alloy',
        objectType: '',
        confidence: 0.5,
      } as const;
      const writing = graph.addTriples({
        tenant: 'cut',
        eventId: `e${n}`,
        runId: `run_${n}`,
        source: 'answer',
        triples: [triple],
        domain: 'd',
        at: n,
      });
      proxy.cut();
      expect(await writing).toMatchObject(n === 0 ? { added: 1 } : { added: 0, confirmed: 1 });
    }
    expect(
      (await graph.retrieve({ tenant: 'cut', terms: ['alloy'], categories: [], limit: 5, maxCharacters: 99 })).relations,
    ).toMatchObject([{ trust: 0.7599 }]);
  });

  it('fails with GRAPH_UNAVAILABLE in bounded time when nothing listens, and says what to check for a wrong password', async () => {
    const gone = opened({ url: 'bolt://127.0.0.1:9', timeoutMs: 500 });
    await expect(gone.addSynthesis(write(1))).rejects.toMatchObject({ code: 'GRAPH_UNAVAILABLE' });
    expect(await gone.health()).toContain('ServiceUnavailable');
    expect(await opened({ password: 'wrong' }).health()).toContain('NEO4J_PASSWORD');
  });

  it('removes everything of one namespace only', async () => {
    const graph = open('');
    closing.push(graph);
    await expect(graph.removeAll()).rejects.toThrow('namespace');
  });
});
