import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { loadConfiguration } from './load.js';
import { mistakesOf, type Mistake } from './mistakes.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (text: string, name = 'conclave.yaml'): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const load = (variables: Record<string, string> = {}) =>
  loadConfiguration(variables, folder, { categories: ['general', 'math', 'legal_advisor'] });

function refused(variables: Record<string, string> = {}): { readonly mistakes: readonly Mistake[]; readonly text: string } {
  try {
    load(variables);
  } catch (error) {
    if (error instanceof Failure && error.code === 'CONFIGURATION_INVALID') return { mistakes: mistakesOf(error), text: error.message };
    throw error;
  }
  throw new Error('The configuration was accepted.');
}

const signing = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('a configuration file', () => {
  it('may be absent: every default is filled in', () => {
    const { configuration, environment, file, home } = load();
    expect(file).toBeNull();
    expect(home).toBe(join(folder, '.conclave'));
    expect(environment).toMatchObject({ HOST: '127.0.0.1', LOG_LEVEL: 'info' });
    expect(environment.PORT).toBeUndefined();
    expect(configuration.store_prompts).toBe('full');
    expect(configuration.stores).toEqual({});
  });

  it.each([
    ['UTF-8 with a byte order mark', (text: string) => Buffer.from(`\ufeff${text}`)],
    ['UTF-16', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 in the other order', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ])('may be %s, as editors of Windows write it', (_form, bytes) => {
    writeFileSync(join(folder, 'conclave.yaml'), bytes('store_prompts: hash # für uns\n'));
    expect(load().configuration.store_prompts).toBe('hash');
  });

  it('is refused without stores for a program that shares them, and accepted with them', () => {
    const shares = (variables: Record<string, string>) => () => loadConfiguration(variables, folder, { sharesStores: true });
    expect(shares({})).toThrow(/environment {2}stores: .* neither a configuration file nor an address\. Set KAFKA_BROKERS and REDIS_URL/);
    const both = { KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' };
    expect(shares(both)().configuration.stores.kafka?.brokers).toEqual(['127.0.0.1:1']);
    write('store_prompts: hash');
    expect(shares({})).toThrow(/conclave\.yaml {2}stores: .* the file names no stores\./);
    expect(shares(both)().file).toBe(join(folder, 'conclave.yaml'));
    // An incomplete configuration of the stores is one mistake, not two.
    expect(shares({ KAFKA_BROKERS: '127.0.0.1:1' })).toThrow(/^[^\n]*One mistake/);
  });

  it.each([
    ['exists without any setting', '{}', { precision: { builtin: 'precision-tools' } }],
    [
      'stays beside other servers',
      'mcp: { files: { url: "http://127.0.0.1:9/mcp" } }',
      { files: { url: 'http://127.0.0.1:9/mcp' }, precision: { builtin: 'precision-tools' } },
    ],
    [
      'gets what is said about it',
      'mcp: { precision: { env: { CONCLAVE_LAW_URL: LAW_URL } } }',
      { precision: { builtin: 'precision-tools', env: { CONCLAVE_LAW_URL: 'LAW_URL' } } },
    ],
    [
      'may be reached elsewhere',
      'mcp: { precision: { url: "http://127.0.0.1:8091/mcp" } }',
      { precision: { url: 'http://127.0.0.1:8091/mcp' } },
    ],
    ['can be switched off', 'mcp: { precision: { enabled: false } }', {}],
  ])('the tool server of the product %s', (_how, text, servers) => {
    write(text);
    expect(load().configuration.mcp).toEqual(servers);
  });

  it('accepts everything that the guide shows', () => {
    mkdirSync(join(folder, 'prompts'));
    write('You are careful.', 'prompts/medical.md');
    write(`
providers:
  local: { base_url: http://127.0.0.1:11434/v1 }
  cloud: { base_url: https://api.openai.com/v1, api_key_env: OPENAI_API_KEY, max_concurrency: 8 }
models:
  qwen3:8b@local:   { context: 32768 }
  gpt-5-mini@cloud: { context: 400000, price: { input: 0.25, output: 2.00 } }
templates:
  research:
    description: Web research with re-planning
    strategy: agentic
    max_agentic_rounds: 3
    gap_check: evidence
    planner: { model: qwen3:8b@local }
    judge: { model: gpt-5-mini@cloud }
    experts:
      general: { t1: [qwen3:8b@local], t2: [gpt-5-mini@cloud] }
      medical_consult: { t1: [gpt-5-mini@cloud], prompt: prompts/medical.md }
    capabilities: [research, math, mcp, graph, collections]
    caches: { answer: true, semantic: true, plan: true }
    limits: { wall_time_s: 300, model_calls: 60, prompt_tokens: 80000, cost: 0.50, concurrent_tasks: 8 }
    progress: reasoning
    thinking: true
    client_tools: ask_first
aliases: { gpt-4o: conclave-fast }
mcp:
  precision: { builtin: precision-tools }
  files: { command: mcp-server-filesystem, args: [./shared-docs], allow: true }
search: { searxng: http://127.0.0.1:8888 }
stores:
  kafka: { brokers: [127.0.0.1:9092], ssl: false, sasl: {}, topic_prefix: "", replication: 1 }
  redis: { url: redis://127.0.0.1:6379 }
  neo4j: { url: bolt://127.0.0.1:7687, user_env: NEO4J_USER, password_env: NEO4J_PASSWORD }
  chroma: { url: http://127.0.0.1:8000 }
`);
    const { configuration, secrets } = load({ OPENAI_API_KEY: 'sk-test-123456', NEO4J_USER: 'neo4j', NEO4J_PASSWORD: 'word' });
    expect(configuration.templates.research?.experts.medical_consult?.prompt).toBe('You are careful.');
    expect(configuration.stores.kafka?.partitions).toBe(24);
    expect(secrets.providerKeys).toEqual({ cloud: 'sk-test-123456' });
    expect(JSON.stringify(configuration)).not.toContain('sk-test-123456');
  });

  it('adds headers to the requests of a provider, and reads secret ones from the environment', () => {
    const at = 'base_url: https://example.org/v1';
    write(`providers:\n  p: { ${at}, headers: { HTTP-Referer: https://a.example }, headers_env: { X-Org-Key: ORG_KEY } }\n`);
    const { configuration, secrets } = load({ ORG_KEY: 'org-secret' });
    expect(configuration.providers['p']!.headers).toEqual({ 'HTTP-Referer': 'https://a.example' });
    expect(secrets.providerHeaders).toEqual({ p: { 'x-org-key': 'org-secret' } });
    expect(JSON.stringify(configuration)).not.toContain('org-secret');
    expect(() => load({})).toThrow('the environment variable ORG_KEY is not set');
    expect(() => load({ ORG_KEY: 'a\r\nHost: other' })).toThrow('that a header cannot have');
    write(`providers:\n  p: { ${at}, headers: { Authorization: Bearer mine } }\n`);
    expect(() => load()).toThrow(/Authorization[^]*name of a header that Conclave does not set itself/);
  });

  it('is looked for in CONCLAVE_CONFIG, then here, then in the data folder', () => {
    mkdirSync(join(folder, '.conclave'));
    write('store_prompts: none\n', '.conclave/conclave.yaml');
    expect(load().configuration.store_prompts).toBe('none');
    write('store_prompts: hash\n');
    expect(load().configuration.store_prompts).toBe('hash');
    const named = write('store_prompts: full\n', 'other.yaml');
    expect(load({ CONCLAVE_CONFIG: named })).toMatchObject({ file: named, configuration: { store_prompts: 'full' } });
  });

  it('contains API keys of clients, each with its tenant and permission, and keeps them apart', () => {
    write('keys:\n  ann: { key_env: ANN_KEY, tenant: acme, detail: full }\n  bob: { key_file: bob.key }\n');
    write('sk-bob\n', 'bob.key');
    const { configuration, secrets } = load({ ANN_KEY: 'sk-ann' });
    expect(configuration.keys).toMatchObject({ ann: { tenant: 'acme', detail: 'full' }, bob: { tenant: 'default', detail: 'redacted' } });
    expect(secrets.clientKeys).toEqual({ ann: 'sk-ann', bob: 'sk-bob' });
    expect(JSON.stringify(configuration)).not.toContain('sk-');
    expect(refused({ ANN_KEY: 'sk-bob' }).text).toContain('the same key as `ann`');
  });

  it('declares webhooks, whose secrets are read from the environment or from files and are never shown', () => {
    write(
      [
        'webhooks:',
        '  ops: { url: "https://ops.example/h", secret_env: OPS }',
        '  channel: { preset: discord, url_file: channel.txt, tenants: [acme] }',
        '  phone: { preset: telegram, bot_token_env: BOT, chat_id: "-100" }',
        'webhook_delivery: { client_hosts: ["*"], client_secret_file: client.txt }',
        'reasoning: { default_delivery: [memory, ops] }',
      ].join('\n'),
    );
    write('https://discord.example/api/webhooks/1/t0ken\n', 'channel.txt');
    write(`${signing} ${signing}\n`, 'client.txt');
    const { configuration, secrets } = load({ OPS: signing, BOT: '12:AA_b-c' });
    expect(secrets.webhooks).toEqual({
      ops: { secret: signing },
      channel: { url: 'https://discord.example/api/webhooks/1/t0ken' },
      phone: { botToken: '12:AA_b-c' },
    });
    expect(secrets.webhookClients).toBe(`${signing} ${signing}`);
    expect(configuration.webhook_delivery).toMatchObject({ attempts: 8, timeout_s: 10, retry_s: 5 });
    for (const secret of ['whsec_', 't0ken', '12:AA']) expect(JSON.stringify(configuration)).not.toContain(secret);
    for (const wrong of ['whsec_', 'whsec_short', signing.replace('whsec_', ''), 'whsec_%%%'])
      expect(refused({ OPS: wrong, BOT: '12:AA_b-c' }).text).toContain('webhooks.ops: is not a secret for signatures.');
    expect(refused({ OPS: signing, BOT: '12/../x' }).text).toContain('its bot token is not a Telegram token');
  });

  it('is frozen once read', () => {
    expect(() => Object.assign(load().configuration.stores, { kafka: {} })).toThrow(TypeError);
  });
});

describe('mistakes in a configuration', () => {
  const table: readonly (readonly [name: string, yaml: string, line: number, setting: string, words: readonly string[]])[] = [
    [
      'an unknown key names the nearest known one',
      'templates:\n  mine:\n    strateggy: agentic\n',
      3,
      'templates.mine.strateggy',
      ['not a known key', 'Did you mean `strategy`'],
    ],
    ['an unknown top-level key too', 'provider: {}\n', 1, 'provider', ['Did you mean `providers`']],
    [
      'a key like no other lists what is known',
      'search:\n  zzzzzzzzzzzzzzzz: 1\n',
      2,
      'search.zzzzzzzzzzzzzzzz',
      ['Known keys here: searxng, corpus'],
    ],
    [
      'too many rounds name the range',
      'templates:\n  mine:\n    max_agentic_rounds: 5\n',
      3,
      'templates.mine.max_agentic_rounds',
      ['5 is not allowed', 'a whole number from 0 to 4'],
    ],
    [
      'a negative number of rounds',
      'templates: { mine: { max_agentic_rounds: -1 } }\n',
      1,
      'templates.mine.max_agentic_rounds',
      ['from 0 to 4'],
    ],
    [
      'a word where a number belongs',
      'templates:\n  mine:\n    limits:\n      model_calls: many\n',
      4,
      'templates.mine.limits.model_calls',
      ['"many" is not allowed', 'a whole number from 1 to 10000'],
    ],
    [
      'an unknown strategy',
      'templates:\n  mine:\n    strategy: agentik\n',
      3,
      'templates.mine.strategy',
      ['Did you mean `agentic`', 'single-pass', 'needs its module under `extensions`'],
    ],
    [
      'a template called like a coding model',
      'templates:\n  my-codex:\n    strategy: agentic\n',
      2,
      'templates.my-codex',
      ['cannot be a name here', 'without `codex`'],
    ],
    ['a template called like a new model', 'templates:\n  gpt-5-mine: {}\n', 2, 'templates.gpt-5-mine', ['cannot be a name here']],
    ['a template called like a reasoning model', 'templates:\n  o3-mine: {}\n', 2, 'templates.o3-mine', ['cannot be a name here']],
    [
      'a key in the file',
      'providers:\n  cloud:\n    base_url: https://models.example/v1\n    api_key: sk-1\n',
      4,
      'providers.cloud.api_key',
      ['keys must not be written into this file', 'api_key_env'],
    ],
    ['a missing address', 'providers:\n  cloud: {}\n', 2, 'providers.cloud.base_url', ['is missing', 'http or https address']],
    [
      'an address without a scheme',
      'providers:\n  cloud: { base_url: 127.0.0.1:11434/v1 }\n',
      2,
      'providers.cloud.base_url',
      ['http or https address'],
    ],
    [
      'an unknown provider',
      'providers:\n  local: { base_url: "http://127.0.0.1:1/v1" }\ntemplates:\n  mine:\n    planner: { model: qwen@locale }\n',
      5,
      'templates.mine.planner.model',
      ['no provider is called `locale`', 'Did you mean `local`'],
    ],
    [
      'a model without a provider',
      'templates:\n  mine:\n    judge: { model: qwen }\n',
      3,
      'templates.mine.judge.model',
      ['model@provider'],
    ],
    [
      'both model and models',
      'templates:\n  mine:\n    judge:\n      model: a@ollama\n      models: [b@ollama]\n',
      5,
      'templates.mine.judge.models',
      ['Keep one of the two'],
    ],
    [
      're-plans of a single pass',
      'templates:\n  mine:\n    strategy: single-pass\n    max_agentic_rounds: 2\n',
      4,
      'templates.mine.max_agentic_rounds',
      ['makes no re-plans'],
    ],
    ['an alias of nothing', 'aliases:\n  gpt-4o: conclave-fest\n', 2, 'aliases.gpt-4o', ['Did you mean `conclave-fast`']],
    [
      'a template among several models',
      'aliases:\n  gpt-4o: [m@demo, conclave]\n',
      2,
      'aliases.gpt-4o[1]',
      ['is a template', 'only target of the alias'],
    ],
    ['an unknown provider among several', 'aliases:\n  gpt-4o:\n    models: [m@demo, m@dmo]\n', 3, 'aliases.gpt-4o.models[1]', ['`demo`']],
    ['a name among several that is not a model', 'aliases:\n  gpt-4o: [m@demo, other]\n', 2, 'aliases.gpt-4o[1]', ['model@provider']],
    ['an unknown use', 'aliases:\n  gpt-4o: { models: [m@demo], use: random }\n', 2, 'aliases.gpt-4o.use', ['fallback', 'balance']],
    ['no model', 'aliases:\n  gpt-4o: []\n', 2, 'aliases.gpt-4o', ['a list of']],
    ['Kafka without Redis', 'stores:\n  kafka: { brokers: [127.0.0.1:9092] }\n', 2, 'stores.kafka', ['Kafka needs Redis']],
    [
      'a broker without a port',
      'stores:\n  kafka: { brokers: [127.0.0.1] }\n  redis: { url: redis://127.0.0.1 }\n',
      2,
      'stores.kafka.brokers[0]',
      ['host:port'],
    ],
    [
      'a Redis Cluster with sentinels',
      'stores:\n  kafka: { brokers: ["a:1"] }\n  redis: { url: redis://c, cluster: true, sentinel: { master: m, addresses: ["s:1"] } }\n',
      3,
      'stores.redis.sentinel',
      ['Remove `cluster` or `sentinel`'],
    ],
    [
      'a sentinel without a port',
      'stores:\n  kafka: { brokers: ["a:1"] }\n  redis: { url: redis://c, sentinel: { master: m, addresses: [s] } }\n',
      3,
      'stores.redis.sentinel.addresses[0]',
      ['host:port'],
    ],
    [
      'SASL without a password',
      'stores:\n  kafka: { brokers: ["a:1"], sasl: { mechanism: plain } }\n  redis: { url: redis://127.0.0.1 }\n',
      2,
      'stores.kafka.sasl',
      ['user and a password'],
    ],
    [
      'a typo inside TLS files',
      'stores:\n  kafka: { brokers: ["a:1"], ssl: { ca_fil: x } }\n  redis: { url: redis://127.0.0.1 }\n',
      2,
      'stores.kafka.ssl.ca_fil',
      ['Did you mean `ca_file`'],
    ],
    [
      'a key variable that is not set',
      'providers:\n  cloud: { base_url: "https://models.example/v1", api_key_env: NOT_SET_HERE }\n',
      2,
      'providers.cloud.api_key_env',
      ['NOT_SET_HERE is not set'],
    ],
    [
      'a prompt file that is not there',
      'templates:\n  mine:\n    experts:\n      general: { prompt: prompts/none.md }\n',
      4,
      'templates.mine.experts.general.prompt',
      ['no file prompts/none.md'],
    ],
    ['a corpus folder that is not there', 'search:\n  corpus: ./none\n', 2, 'search.corpus', ['no folder ./none']],
    ['a folder of skills that is not there', 'skills: ./none\n', 1, 'skills', ['no folder ./none']],
    ['a client key without a place', 'keys:\n  ann: { tenant: acme }\n', 2, 'keys.ann', ['the key is missing', 'key_env']],
    ['a client key of two places', 'keys:\n  ann: { key_env: HOME, key_file: x }\n', 2, 'keys.ann.key_file', ['Keep one of the two']],
    [
      'a client key in the file',
      'keys:\n  ann:\n    key: sk-1\n',
      3,
      'keys.ann.key',
      ['keys must not be written into this file', 'keys: `key_env`'],
    ],
    ['a webhook without an address', 'webhooks:\n  ops: { secret_env: HOME }\n', 2, 'webhooks.ops', ['the address is missing', '`url`']],
    ['a webhook without a secret', 'webhooks:\n  ops: { url: "http://x" }\n', 2, 'webhooks.ops', ['the secret for signatures is missing']],
    ['a bot without a chat', 'webhooks:\n  p: { preset: telegram, bot_token_env: HOME }\n', 2, 'webhooks.p', ['the chat is missing']],
    [
      'a webhook with two addresses',
      'webhooks:\n  d: { preset: discord, url: "http://x", url_env: HOME }\n',
      2,
      'webhooks.d',
      ['in several ways'],
    ],
    [
      'hosts of clients without a secret',
      'webhook_delivery:\n  client_hosts: [a.example]\n',
      2,
      'webhook_delivery.client_hosts',
      ['need a secret', '`client_secret_env`'],
    ],
    [
      'a default delivery to nobody',
      'webhooks:\n  ops: { preset: discord, url: "http://x" }\nreasoning:\n  default_delivery: [memory, opps]\n',
      4,
      'reasoning.default_delivery[1]',
      ['no webhook is called `opps`', 'Did you mean `ops`'],
    ],
    ['a permission nobody has', 'keys:\n  ann: { key_env: HOME, detail: all }\n', 2, 'keys.ann.detail', ['redacted, full']],
    ['two searches', 'search:\n  searxng: http://127.0.0.1:8888\n  corpus: .\n', 3, 'search.corpus', ['both set']],
    [
      'a category without a prompt',
      'templates:\n  mine:\n    experts:\n      legal_adviser: {}\n',
      4,
      'templates.mine.experts.legal_adviser',
      ['Did you mean `legal_advisor`', 'add `prompt:'],
    ],
    [
      'a judge in another class',
      'task_classes:\n  gpu: { capabilities: [judge.gap] }\n',
      2,
      'task_classes.gpu.capabilities[0]',
      ['belong to the process of the merger'],
    ],
    ['the same key twice', 'search: {}\nsearch: {}\n', 2, '', ['Keep one of the two']],
    ['a tab', 'search:\n\tcorpus: x\n', 2, '', ['spaces']],
    ['a list instead of a section', '- a\n', 1, '', ['a section with keys']],
    ['a section without a value', 'providers:\n  cloud:\n', 2, 'providers.cloud', ['has no value']],
  ];

  it.each(table)('%s', (_name, yaml, line, setting, words) => {
    write(yaml);
    const { mistakes, text } = refused();
    const mistake = mistakes.find((one) => one.setting === setting);
    expect(mistakes.map((one) => [one.line, one.setting])).toContainEqual([line, setting]);
    for (const word of words) expect(`${mistake?.problem} ${mistake?.remedy}`).toContain(word);
    expect(text).toContain(`conclave.yaml:${line}:`);
  });

  it('are all reported at once, in the order of the file, environment first', () => {
    write('templates:\n  mine:\n    max_agentic_rounds: 9\n    colour: red\nserch: {}\n');
    const { mistakes } = refused({ PORT: 'http', LOG_LEVEL: 'loud' });
    expect(mistakes.map(({ where }) => where.split(':').slice(0, 2).join(':'))).toEqual([
      'PORT',
      'LOG_LEVEL',
      'conclave.yaml:3',
      'conclave.yaml:4',
      'conclave.yaml:5',
    ]);
  });

  it.each([
    ['PORT', '99999', 'from 0 to 65535'],
    ['LOG_LEVEL', 'loud', 'one of debug, info, warn, error, silent'],
    ['KAFKA_BROKERS', 'localhost', 'host:port'],
    ['OPENAI_BASE_URL', 'localhost', 'http or https address'],
    ['WORKER_CLASSES', 'Expert', 'letters'],
  ])('include a bad variable: %s', (name, value, words) => {
    const { mistakes } = refused({ [name]: value });
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toMatchObject({ where: name });
    expect(mistakes[0]!.remedy).toContain(words);
  });

  it('report a CONCLAVE_CONFIG that does not exist', () => {
    expect(refused({ CONCLAVE_CONFIG: './none.yaml' }).text).toContain('there is no file');
  });

  it('of the environment do not hide those caused by other variables', () => {
    expect(refused({ KAFKA_BROKERS: '127.0.0.1:9092', LOG_LEVEL: 'loud' }).text).toMatch(
      /LOG_LEVEL[^]*needs Redis|needs Redis[^]*LOG_LEVEL/,
    );
  });

  it('refuse Kafka from the environment without Redis although there is no file', () => {
    expect(refused({ KAFKA_BROKERS: '127.0.0.1:9092' }).text).toContain('needs Redis');
  });
});

describe('the environment', () => {
  it('counts an empty value as absent', () => {
    expect(load({ PORT: '', OPENAI_BASE_URL: '' }).environment.PORT).toBeUndefined();
  });

  it('turns OPENAI_BASE_URL into the provider openai, with the key if there is one', () => {
    const { configuration, secrets } = load({ OPENAI_BASE_URL: 'http://127.0.0.1:1234/v1', OPENAI_API_KEY: 'key-of-mine' });
    expect(configuration.providers.openai).toMatchObject({ base_url: 'http://127.0.0.1:1234/v1', api_key_env: 'OPENAI_API_KEY' });
    expect(secrets.providerKeys).toEqual({ openai: 'key-of-mine' });
  });

  it('makes no provider from a key alone', () => {
    expect(load({ OPENAI_API_KEY: 'key-of-mine' }).configuration.providers).toEqual({});
  });

  it('replaces addresses of stores', () => {
    const { configuration } = load({
      KAFKA_BROKERS: 'a:1, b:2',
      REDIS_URL: 'redis://c:3',
      NEO4J_URL: 'bolt://d:4',
      NEO4J_USER: 'u',
      NEO4J_PASSWORD: 'p',
    });
    expect(configuration.stores).toMatchObject({
      kafka: { brokers: ['a:1', 'b:2'] },
      redis: { url: 'redis://c:3' },
      neo4j: { url: 'bolt://d:4' },
    });
  });

  it('keeps Conclave embedded if only a REDIS_URL of another program is set', () => {
    expect(load({ REDIS_URL: 'redis://c:3' }).configuration.stores).toEqual({});
  });
});
