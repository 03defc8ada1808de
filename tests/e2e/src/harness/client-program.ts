import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptedModelServer, ScriptedReply, ScriptedRequest } from '@conclave/test-support';
import { pythonClients } from '@conclave/test-support/real-servers';
import { cleared, roleOf, workspaceRoot } from '@conclave/test-support/system';

const folder = join(workspaceRoot, 'tests/clients');
const resultsFile = join(folder, 'results.json');

/** What one client program found: capability -> why it fails, or null if it passes. */
export interface ClientResult {
  readonly client: string;
  readonly version: string;
  readonly failures: Readonly<Record<string, string | null>>;
}

/** As printed on docs/clients.md. */
export type KeptResults = Record<string, { version: string; capabilities: Record<string, Record<string, 'passes' | 'fails'>> }>;

async function run(
  program: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  timeout: number,
): Promise<string> {
  const env = { ...process.env, ...cleared, NODE_OPTIONS: '', NO_PROXY: '127.0.0.1', ...variables };
  const child = spawn(program, args, { cwd: folder, env, timeout, stdio: ['ignore', 'pipe', 'pipe'] });
  let [said, complaints] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}.\n${said.slice(-2_000)}${complaints.slice(-2_000)}`);
  return said;
}

/** Runs the programs of `tests/clients`, installed with their dependencies. */
export const runtimes = {
  node: async (): Promise<string> => {
    await run(process.execPath, ['install.mjs'], {}, 250_000);
    return process.execPath;
  },
  python: (): Promise<string> => pythonClients.install(),
} as const;

/** Runs a program of tests/clients against a gateway. */
export async function runClient(runtime: string, file: string, variables: Readonly<Record<string, string>>): Promise<ClientResult> {
  const output = await run(runtime, [file], variables, 300_000);
  const [head, ...lines] = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const failures = lines.map(({ capability, passes, reason }) => [capability, passes ? null : String(reason)] as const);
  return { client: String(head!['client']), version: String(head!['version']), failures: Object.fromEntries(failures) };
}

export const keptResults = (): KeptResults => JSON.parse(readFileSync(resultsFile, 'utf8')) as KeptResults;

/** Address of the upstream issue because of which a client is known to fail at a capability. */
export function upstreamIssueOf(client: string, capability: string): string | undefined {
  const issues = JSON.parse(readFileSync(join(folder, 'upstream-issues.json'), 'utf8')) as Record<string, Record<string, string>>;
  return issues[client]?.[capability];
}

/** Stores what a client found in one mode, beside what it found in the other. */
export function keepResult({ client, version, failures }: ClientResult, mode: string): void {
  const all = keptResults();
  const before = all[client]?.version === version ? all[client].capabilities : {};
  const capabilities = Object.fromEntries(
    Object.entries(failures).map(([name, reason]) => [name, { ...before[name], [mode]: reason === null ? 'passes' : 'fails' } as const]),
  );
  writeFileSync(resultsFile, `${JSON.stringify({ ...all, [client]: { version, capabilities } }, null, 2)}\n`);
}

interface Schema {
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
}
/** A value that matches a schema whose leaves are texts. */
const filled = (schema: Schema): unknown =>
  schema.properties
    ? Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, filled(property)]))
    : (schema.enum?.[0] ?? 'Ulm');

/** As in tests/clients/capabilities.mjs. */
const said = 'It rains in Ulm.';
const usage = { prompt_tokens: 11, completion_tokens: 7 };
const messageOf = (body: ScriptedRequest['body']): { readonly message: object; readonly finish: string } => {
  const [tool] = (body['tools'] ?? []) as { function: { name: string; parameters: Schema } }[];
  const call = tool!.function;
  const called = { name: call.name, arguments: JSON.stringify(filled(call.parameters)) };
  return {
    message: { role: 'assistant', content: null, tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: called }] },
    finish: 'tool_calls',
  };
};

function toolCall({ body, stream }: ScriptedRequest): ScriptedReply {
  const { message, finish } = messageOf(body);
  const sum = { ...usage, total_tokens: 18 };
  const common = { id: 'x', created: 1, model: 'scripted' };
  if (!stream)
    return {
      status: 200,
      body: { ...common, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage: sum },
    };
  const chunk = (delta: object, finish_reason: string | null): object => ({
    ...common,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const events = [chunk(message, null), chunk({}, finish), { ...common, object: 'chat.completion.chunk', choices: [], usage: sum }];
  const text = [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: text };
}

/** The text word by word, with a pause before each word and before the end. */
const spoken = (text: string, pauseMs: number): ScriptedReply => ({
  chunks: [...text.split(/(?= )/).map((word) => ({ text: word, afterMs: pauseMs })), { afterMs: pauseMs }],
  usage,
});

/** A model that can do everything clients ask for: it plays each part of the committee, calls the first tool, and fills schemas. */
function capableReply(request: ScriptedRequest, pauseMs: number): ScriptedReply {
  const { body, messages } = request;
  const role = roleOf(request);
  if (role === 'planner')
    return { text: JSON.stringify({ tasks: [{ id: 'x1', task: 'Say it.', capability: 'expert.general', needs: [] }] }), usage };
  if (role === 'expert') return { text: `${said}\nFINDING: ${said}\nCONFIDENCE: 0.6\nGAPS: none\nREFER: none`, usage };
  if (JSON.stringify(messages).includes('[endless]')) return { stallAfter: [{ text: 'It ' }] };
  if (Array.isArray(body['tools']) && messages.at(-1)!.role !== 'tool') return toolCall(request);
  const format = body['response_format'] as { json_schema?: { schema: Schema } } | undefined;
  if (format?.json_schema) return { text: JSON.stringify(filled(format.json_schema.schema)), usage };
  return pauseMs > 0 && request.stream ? spoken(said, pauseMs) : { text: said, words: true, usage };
}

/** @param pauseMs between the words of a streamed answer */
export const scriptCapableModel = (models: ScriptedModelServer, pauseMs: number): void =>
  models.add({ name: 'a capable model', match: () => true, times: Infinity, reply: (request) => capableReply(request, pauseMs) });
