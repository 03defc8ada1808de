import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import {
  Configuration,
  nearest,
  shapeOf,
  type Environment,
  shippedToolServers,
  environmentProvider,
  KafkaSettings,
  Neo4jSettings,
  ProviderSettings,
  RedisSettings,
} from '@conclave/contracts';
import { parseEnvironment, type Variables } from './environment.js';
import { explain, place } from './explain.js';
import { refuse, settingName, type Mistake } from './mistakes.js';
import { checkReferences, type PathProblem } from './references.js';
import { resolveSecrets, type SecretHolder, type Secrets } from './secrets.js';
import { readYaml } from './yaml-source.js';

/** The configuration of a process, read once and frozen. */
export interface Loaded {
  readonly configuration: Configuration;
  readonly environment: Environment;
  readonly secrets: Secrets;
  /** The original environment, for child programs that get part of it. Never logged. */
  readonly variables: Variables;
  /** Absolute path of the file; null if there is none. */
  readonly file: string | null;
  /** Absolute path of the data folder. */
  readonly home: string;
}

/** `prompt: prompts/medical.md` names a file; a text of several lines or with another ending is the prompt itself. */
const looksLikeFile = (text: string): boolean => !text.includes('\n') && /\.(md|txt)$/i.test(text.trim());

export interface LoadOptions {
  /** Expert categories with a shipped prompt; any other needs its own. */
  readonly categories?: readonly string[];
  /** Whether the program is one process of several: it is then refused without shared stores. Default false: a data folder is enough. */
  readonly sharesStores?: boolean;
  /** The service whose secrets are read; absent: the one in CONCLAVE_SERVICE, or all. */
  readonly secretsOf?: SecretHolder;
}

/**
 * Reads environment and file (CONCLAVE_CONFIG, else ./conclave.yaml, else the data folder; the file is optional). Throws Failure
 * CONFIGURATION_INVALID with every mistake of both, each with its line and remedy.
 */
export function loadConfiguration(variables: Variables, cwd: string, known: LoadOptions = {}): Loaded {
  const { environment, mistakes: inEnvironment } = parseEnvironment(variables);
  const home = resolve(cwd, environment.CONCLAVE_HOME);
  const found = findFile(environment.CONCLAVE_CONFIG, cwd, home);
  const file = found.file;
  const inFile = file ? readFileConfiguration(file) : withoutFile();
  const configuration = inFile.configuration && withShippedToolServers(applyOverrides(inFile.configuration, environment));
  const rest: Mistake[] = [];
  let secrets: Secrets | null = null;
  if (configuration) {
    const resolved = resolveSecrets(
      configuration,
      variables,
      file ? dirname(file) : cwd,
      known.secretsOf ?? environment.CONCLAVE_SERVICE ?? null,
    );
    secrets = resolved.secrets;
    rest.push(...inFile.problemsAt([...resolved.problems, ...needsRedis(configuration), ...needsPrompt(configuration, known.categories)]));
    if (known.sharesStores && !configuration.stores.kafka && !configuration.stores.redis) rest.push(noStores(file));
  }
  const mistakes = [...inEnvironment, ...found.mistakes, ...inFile.mistakes, ...rest];
  if (mistakes.length > 0 || !configuration || !secrets) throw refuse(mistakes);
  return deepFreeze({ configuration, environment, secrets, variables: { ...variables }, file, home });
}

function findFile(
  named: string | undefined,
  cwd: string,
  home: string,
): { readonly file: string | null; readonly mistakes: readonly Mistake[] } {
  if (named) {
    const file = resolve(cwd, named);
    if (existsSync(file) && statSync(file).isFile()) return { file, mistakes: [] };
    return {
      file: null,
      mistakes: [
        {
          where: 'CONCLAVE_CONFIG',
          line: 0,
          setting: 'CONCLAVE_CONFIG',
          problem: `there is no file ${file}.`,
          remedy: 'Correct the path or unset the variable.',
        },
      ],
    };
  }
  const file = [join(cwd, 'conclave.yaml'), join(home, 'conclave.yaml')].find((candidate) => existsSync(candidate));
  return { file: file ?? null, mistakes: [] };
}

interface FileReading {
  readonly configuration: Configuration | null;
  readonly mistakes: readonly Mistake[];
  readonly problemsAt: (problems: readonly PathProblem[]) => readonly Mistake[];
}

const withoutFile = (): FileReading => ({
  configuration: Configuration.parse({}),
  mistakes: [],
  problemsAt: (problems) =>
    problems.map(({ path, problem, remedy }) => ({ where: 'environment', line: 0, setting: settingName(path), problem, remedy })),
});

/** The text of a file. Some editors and shells of Windows write UTF-16, which begins with a byte order mark. */
function textIn(bytes: Buffer): string {
  const mark = bytes.length % 2 === 0 ? bytes.subarray(0, 2).toString('hex') : '';
  if (mark === 'feff') bytes.swap16();
  return mark === 'fffe' || mark === 'feff' ? bytes.toString('utf16le').slice(1) : bytes.toString('utf8');
}

function readFileConfiguration(file: string): FileReading {
  const name = basename(file);
  const source = readYaml(textIn(readFileSync(file)), name);
  const problemsAt = (problems: readonly PathProblem[]): readonly Mistake[] => problems.map((problem) => place(problem, source, name));
  if (source.mistakes.length > 0) return { configuration: null, mistakes: source.mistakes, problemsAt };
  const value = source.value ?? {};
  const parsed = Configuration.safeParse(value);
  if (!parsed.success)
    return { configuration: null, mistakes: explain(parsed.error.issues, shapeOf(Configuration), value, source, name), problemsAt };
  const { configuration, problems } = readPrompts(parsed.data, dirname(file));
  return { configuration, mistakes: problemsAt([...checkReferences(configuration), ...problems]), problemsAt };
}

/** Replaces names of prompt files with their text, and makes the folders absolute. */
function readPrompts(
  configuration: Configuration,
  folder: string,
): { readonly configuration: Configuration; readonly problems: readonly PathProblem[] } {
  const problems: PathProblem[] = [];
  const read = (prompt: string | undefined, path: readonly PropertyKey[]): string | undefined => {
    if (!prompt || !looksLikeFile(prompt)) return prompt;
    const file = isAbsolute(prompt) ? prompt : join(folder, prompt.trim());
    if (existsSync(file)) return readFileSync(file, 'utf8');
    problems.push({ path, problem: `there is no file ${prompt}.`, remedy: 'Paths are relative to this file.' });
    return prompt;
  };
  const templates = Object.fromEntries(
    Object.entries(configuration.templates).map(([id, template]) => {
      const experts = Object.fromEntries(
        Object.entries(template.experts).map(([category, expert]) => [
          category,
          { ...expert, prompt: read(expert.prompt, ['templates', id, 'experts', category, 'prompt']) },
        ]),
      );
      return [
        id,
        {
          ...template,
          experts,
          planner: { ...template.planner, prompt: read(template.planner.prompt, ['templates', id, 'planner', 'prompt']) },
        },
      ];
    }),
  );
  const folderAt = (name: string | undefined, path: readonly PropertyKey[]): string | undefined => {
    if (name === undefined) return undefined;
    const whole = resolve(folder, name);
    if (!(existsSync(whole) && statSync(whole).isDirectory()))
      problems.push({ path, problem: `there is no folder ${name}.`, remedy: 'Paths are relative to this file.' });
    return whole;
  };
  const corpus = folderAt(configuration.search.corpus, ['search', 'corpus']);
  const skills = folderAt(configuration.skills, ['skills']);
  const extensions = configuration.extensions.map((name, i) => {
    const whole = resolve(folder, name);
    if (!(existsSync(whole) && statSync(whole).isFile()))
      problems.push({ path: ['extensions', i], problem: `there is no file ${name}.`, remedy: 'Paths are relative to this file.' });
    return whole;
  });
  const search = { ...configuration.search, ...(corpus ? { corpus } : {}) };
  return { configuration: { ...configuration, templates, extensions, search, ...(skills ? { skills } : {}) }, problems };
}

const needsRedis = ({ stores }: Configuration): readonly PathProblem[] =>
  stores.kafka && !stores.redis
    ? [
        {
          path: ['stores', 'kafka'],
          atKey: true,
          problem: 'Kafka needs Redis for run state, journal and timers.',
          remedy: 'Add `stores.redis.url` (or REDIS_URL), or remove Kafka.',
        },
      ]
    : !stores.kafka && stores.redis
      ? [
          {
            path: ['stores', 'redis'],
            atKey: true,
            problem: 'Redis is used only together with Kafka.',
            remedy: 'Add `stores.kafka.brokers` (or KAFKA_BROKERS), or remove Redis.',
          },
        ]
      : [];

const noStores = (file: string | null): Mistake => ({
  where: file ? basename(file) : 'environment',
  line: 0,
  setting: 'stores',
  problem: `this program shares its stores with the other services, and ${file ? 'the file names no stores' : 'there is neither a configuration file nor an address'}.`,
  remedy:
    'Set KAFKA_BROKERS and REDIS_URL, or `stores.kafka.brokers` and `stores.redis.url` in the file that CONCLAVE_CONFIG names. ' +
    'To run everything in one process, start the standalone program.',
});

const needsPrompt = ({ templates }: Configuration, categories: readonly string[] | undefined): readonly PathProblem[] =>
  Object.entries(templates).flatMap(([id, { experts }]) =>
    Object.entries(experts).flatMap(([category, expert]): PathProblem[] => {
      if (!categories || expert.prompt || categories.includes(category)) return [];
      const near = nearest(category, categories);
      const remedy = `${near ? `Did you mean \`${near}\`? Otherwise add` : 'Add'} \`prompt: prompts/${category}.md\` and describe this expert in that file.`;
      return [{ path: ['templates', id, 'experts', category], atKey: true, problem: 'no prompt is shipped for this category.', remedy }];
    }),
  );

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

type Servers = Configuration['mcp'];

/**
 * The tool servers in use: those of the file and the shipped ones. Merges settings for a shipped server into it, unless they name another
 * way to reach it. Omits every server with `enabled: false`.
 */
function withShippedToolServers(configuration: Configuration): Configuration {
  const servers: Servers = { ...configuration.mcp };
  for (const [name, builtin] of Object.entries(shippedToolServers)) {
    const given = servers[name] ?? {};
    const elsewhere = given.builtin ?? given.url ?? given.command;
    servers[name] = elsewhere === undefined ? { ...given, builtin } : given;
  }
  const used = Object.entries(servers).filter(([, { enabled }]) => enabled !== false);
  return { ...configuration, mcp: Object.fromEntries(used) };
}

/** Overrides the file with the environment. OPENAI_BASE_URL becomes the provider `openai`. */
function applyOverrides(configuration: Configuration, environment: Environment): Configuration {
  const { stores } = configuration;
  const { KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, REDIS_URL, NEO4J_URL, OPENAI_BASE_URL, OPENAI_API_KEY, SEARXNG_URL } = environment;
  const prefix = KAFKA_TOPIC_PREFIX === undefined ? {} : { topic_prefix: KAFKA_TOPIC_PREFIX };
  const kafka = KAFKA_BROKERS
    ? KafkaSettings.parse({ ...stores.kafka, brokers: KAFKA_BROKERS, ...prefix })
    : stores.kafka && { ...stores.kafka, ...prefix };
  // A REDIS_URL set for another program does not affect an embedded Conclave.
  const redis = REDIS_URL && (kafka || stores.redis) ? RedisSettings.parse({ ...stores.redis, url: REDIS_URL }) : stores.redis;
  const neo4j = NEO4J_URL ? Neo4jSettings.parse({ ...stores.neo4j, url: NEO4J_URL }) : stores.neo4j;
  const providers = OPENAI_BASE_URL
    ? {
        ...configuration.providers,
        [environmentProvider]: ProviderSettings.parse({
          ...configuration.providers[environmentProvider],
          base_url: OPENAI_BASE_URL,
          ...(OPENAI_API_KEY && !configuration.providers[environmentProvider]?.api_key_file ? { api_key_env: 'OPENAI_API_KEY' } : {}),
        }),
      }
    : configuration.providers;
  return {
    ...configuration,
    providers,
    search: SEARXNG_URL ? { ...configuration.search, searxng: SEARXNG_URL, corpus: undefined } : configuration.search,
    stores: { ...stores, ...(kafka ? { kafka } : {}), ...(redis ? { redis } : {}), ...(neo4j ? { neo4j } : {}) },
  };
}
