import { networkInterfaces } from 'node:os';
import type { Doors, KeyFile } from '@conclave/app-gateway';
import { demoProvider } from '@conclave/contracts';
import type { ChosenModels } from '@conclave/platform';
import type { ModelInfo, ProviderStatus } from '@conclave/ports';
import type { Listening } from './listen.js';

export interface StartFacts {
  readonly listening: Listening;
  readonly home: string;
  /** Configuration file, or null. */
  readonly file: string | null;
  readonly models: readonly ModelInfo[];
  readonly providers: readonly ProviderStatus[];
  readonly choice: ChosenModels;
  readonly templates: readonly string[];
  /** What extensions brought, such as `strategy jury`. */
  readonly extensions: readonly string[];
  /** What research searches; null for nothing. */
  readonly search: string | null;
  readonly doors: Pick<Doors, 'asked' | 'admin' | 'lan'>;
  /** Opens the console signed in, once; null without an admin key. */
  readonly signIn: string | null;
  /** True if OPENAI_API_KEY is set but no provider `openai` is configured. */
  readonly loneKey: boolean;
  readonly warnings: readonly string[];
  /** A question that shows the loop. */
  readonly question: string;
}

/** Most models named in the text; /v1/models lists all. */
const namedModels = 5;

/** The text after the start: what is used, addresses, and two commands that work when pasted. */
export function startText(facts: StartFacts): string {
  const {
    listening,
    templates,
    doors: { asked, admin, lan },
  } = facts;
  const model = templates.includes('conclave') ? 'conclave' : templates[0];
  const taken = listening.insteadOf === null ? '' : ` (port ${listening.insteadOf} is taken; set PORT to choose one)`;
  return [
    `Conclave is ready at ${listening.url}${taken}`,
    '',
    ...rows([
      ['Models', modelSentence(facts)],
      ...roleRows(facts.choice),
      ['Templates', templates.length > 0 ? templates.join(', ') : 'none: no model is available yet'],
      ...(facts.extensions.length > 0 ? [['Extensions', facts.extensions.join(', ')] as const] : []),
      ['Research', facts.search ?? 'nothing to search: set search.searxng or search.corpus in conclave.yaml'],
      ['Access', accessSentence(facts)],
      ...(admin ? [['Admin', `the key in ${admin.file}${admin.made ? ', just created' : ''}`] as const] : []),
      ...(facts.signIn ? [['Console', `${facts.signIn} (signs this browser in, once, within 10 minutes)`] as const] : []),
      ['Data', `${facts.home} (log: conclave.log)`],
      ...(facts.file ? [['Settings', facts.file] as const] : []),
    ]),
    ...[...advice(facts), ...facts.warnings].map((warning) => `  Note       ${warning}`),
    ...(facts.loneKey ? ['  Note       OPENAI_API_KEY is set. It is used only on request: as model@openai, or with OPENAI_BASE_URL.'] : []),
    ...(model
      ? [
          '',
          asked > 0 ? 'Ask it, with your key in the variable CONCLAVE_API_KEY:' : 'Ask it:',
          '',
          curlSnippet(listening.url, model, facts.question, asked > 0),
          '',
          'Or with the OpenAI SDK:',
          '',
          sdkSnippet(listening.url, model, facts.question, asked > 0),
        ]
      : []),
    '',
    ...(lan ? lanText(listening.port, lan) : []),
    ...connectText(facts),
    'Stop with Ctrl+C.',
    '',
  ].join('\n');
}

function accessSentence({ listening, doors: { asked } }: StartFacts): string {
  const keys = asked === 1 ? 'the one API key' : `one of ${asked} API keys`;
  if (!listening.open) return `this machine only; ${asked > 0 ? `${keys} is required` : 'any API key is accepted'}`;
  return asked > 0
    ? `anyone who can reach this port, with ${keys}`
    : 'ANYONE who can reach this port (`access: open`). Name some keys under `keys`, or unset HOST to keep it to this machine';
}

const rows = (pairs: readonly (readonly [string, string])[]): string[] => pairs.map(([name, text]) => `  ${name.padEnd(10)} ${text}`);

/** The model of each role, one line each. */
function roleRows({ roles }: ChosenModels): readonly (readonly [string, string])[] {
  if (!roles) return [];
  const same = (some: readonly string[]): boolean => some.join() === roles.experts.join();
  return [
    ['', `experts       ${roles.experts.join(', ')}`],
    ...(same(roles.code) ? [] : [['', `code          ${roles.code.join(', ')}`] as const]),
    ...(same(roles.vision) ? [] : [['', `images        ${roles.vision.join(', ')}`] as const]),
    ['', `second tier   ${roles.secondTier.join(', ') || 'none'}`],
    ['', `plans, judges ${roles.judge}`],
  ];
}

function modelSentence({ choice, models, providers }: StartFacts): string {
  const down = providers.filter((provider) => !provider.reachable).map(({ name, note }) => `${name}: ${note || 'does not answer'}`);
  if (choice.because === 'nothing') {
    const empty = providers
      .filter(({ name, reachable }) => reachable && name !== demoProvider)
      .map(({ name }) => `${name}: answers, and lists no model that can chat`);
    const why = [...down, ...empty].map((line) => line.replace(/\.+$/, ''));
    return `none found. ${why.length > 0 ? `${why.join('; ')}. The search repeats automatically.` : 'Name one in conclave.yaml.'}`;
  }
  if (choice.roles) {
    const chat = models.filter(({ kind, provider }) => kind === 'chat' && provider !== demoProvider);
    return `${chat.length}${choice.because === 'local' ? ' found on this machine' : ''}, spread over the parts of the committee${down.length > 0 ? `; ${down.join('; ')}` : ''}`;
  }
  const used = choice.models.map(({ ref }) => ref).join(', ');
  if (choice.because === 'demo') return `${used}: the built-in DEMO model (deterministic, offline, for a first try)`;
  const others = models
    .filter(({ ref, kind, provider }) => kind === 'chat' && provider !== demoProvider && !choice.models.some((one) => one.ref === ref))
    .map(({ ref }) => ref);
  const more =
    others.length > namedModels ? `${others.slice(0, namedModels).join(', ')} and ${others.length - namedModels} more` : others.join(', ');
  const paid = choice.because === 'paid' ? ' (paid)' : '';
  return `${used}${paid}${more ? `; also ${more}` : ''}${down.length > 0 ? `; ${down.join('; ')}` : ''}`;
}

/** A server's notes besides its number of models, such as a context that is cut silently. */
const advice = ({ providers }: StartFacts): readonly string[] =>
  providers
    .filter(({ reachable, name }) => reachable && name !== demoProvider)
    .map(({ name, note }) => ({ name, rest: note.replace(/^\d+ chat models\.\s*/, '') }))
    .flatMap(({ name, rest }) => (rest ? [`${name}: ${rest}`] : []));

/** Quotes for a POSIX shell: single quotes protect everything except a single quote. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** `keyed`: the command reads the key from CONCLAVE_API_KEY; the text never contains it. */
export function curlSnippet(url: string, model: string, question: string, keyed = false): string {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: question }] });
  const key = keyed ? '-H "authorization: Bearer $CONCLAVE_API_KEY" ' : '';
  return `  curl -N ${url}/v1/chat/completions ${key}-H 'content-type: application/json' -d ${quoted(body)}`;
}

/** Runs in this folder without installation: the `openai` package is a dependency. */
export function sdkSnippet(url: string, model: string, question: string, keyed = false): string {
  const code = [
    "import OpenAI from 'openai';",
    `const client = new OpenAI({ baseURL: '${url}/v1', apiKey: ${keyed ? 'process.env.CONCLAVE_API_KEY' : "'none'"} });`,
    `const stream = await client.chat.completions.create({ model: '${model}', stream: true,`,
    `  messages: [{ role: 'user', content: ${JSON.stringify(question)} }] });`,
    "for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? '');",
  ];
  return ["  node --input-type=module <<'END'", ...code.map((line) => `  ${line}`), 'END'].join('\n');
}

function connectText({ choice }: StartFacts): readonly string[] {
  if (choice.because !== 'demo' && choice.because !== 'nothing') return [];
  return [
    'Connect a real model: start Ollama, LM Studio, llama.cpp or vLLM and start again, or name any OpenAI-compatible server:',
    '',
    '  OPENAI_BASE_URL=http://127.0.0.1:11434/v1 npm start',
    '',
    'or in conclave.yaml:  providers: { local: { base_url: http://127.0.0.1:11434/v1 } }',
    '',
  ];
}

/** Addresses of this machine that other machines can reach, IPv4 first. */
const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .sort((a, b) => a.family.localeCompare(b.family))
    .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));

/** Settings to paste into programs on this and other machines. The key itself is shown only in the start that created it. */
function lanText(port: number, { file, value, made }: KeyFile, addresses = ownAddresses()): readonly string[] {
  const base = (host: string): string => `http://${host}:${port}/v1`;
  const key = made ? value : `"$(cat '${file}')"`;
  const settings = (host: string): string => `OPENAI_API_BASE_URL=${base(host)} OPENAI_API_KEY=${key}`;
  return [
    made ? `A key for other programs was created: ${value} (stored in ${file})` : `The key for other programs is in ${file}`,
    '',
    'Open WebUI in Docker on this machine:',
    '',
    `  docker run --add-host=host.docker.internal:host-gateway -e OPENAI_API_BASE_URL=${base('host.docker.internal')} -e OPENAI_API_KEY=${key} ...`,
    '',
    'Open WebUI without Docker on this machine:',
    '',
    `  ${settings('127.0.0.1')} open-webui serve`,
    '',
    ...(addresses.length > 0 ? ['From other machines:', '', ...addresses.slice(0, 3).map((host) => `  ${settings(host)}`), ''] : []),
  ];
}
