import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { questions } from './tools/__fixtures__/questions.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { EmptyResultSchema, ErrorCode } from '@modelcontextprotocol/sdk/types.js';

jest.setTimeout(60_000);
/** The built program as it ships: with the entry, the loader and the machine code of a release. */
const program = fileURLToPath(new URL('../../../dist/precision-tools.js', import.meta.url));

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function connected(transport: Parameters<Client['connect']>[0]): Promise<Client> {
  const client = new Client({ name: 'spec', version: '1' });
  await client.connect(transport);
  closing.push(() => client.close());
  return client;
}

async function overStdio(): Promise<Client> {
  return connected(new StdioClientTransport({ command: process.execPath, args: [program], stderr: 'ignore' }));
}

/** Address of the service in a separate process. */
async function served(allowedHosts: readonly string[] = []): Promise<string> {
  const args = [program, '--http', '--port', '0', ...allowedHosts.flatMap((host) => ['--allow-host', host])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  closing.push(() => (child.kill(), ended));
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /listen on (\S+)/.exec(line)?.[1];
    if (url) return url;
    said.push(line);
  }
  throw new Error(`The program ended before it listened:\n${said.join('\n')}`);
}
const overHttp = async (): Promise<Client> =>
  connected(new StreamableHTTPClientTransport(new URL(await served())) as Parameters<Client['connect']>[0]);

interface ToolResult {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  content: { type: string; text: string }[];
}
const call = async (client: Client, name: string, args?: Record<string, unknown>): Promise<ToolResult> =>
  (await client.callTool({ name, ...(args && { arguments: args }) }, undefined, { timeout: 30_000 })) as unknown as ToolResult;

describe.each([
  ['stdio', overStdio],
  ['HTTP', overHttp],
])('the tools over %s', (_transport, open) => {
  it('are listed, answer, refuse, and survive any input', async () => {
    const client = await open();
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(24);
    for (const { inputSchema, outputSchema, description } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(outputSchema).toMatchObject({ type: 'object' });
      expect(description).toMatch(/\.$/);
    }
    const calculate = tools.find(({ name }) => name === 'calculate')!;
    expect(calculate.inputSchema).toMatchObject({ required: ['expression'], properties: { expression: { type: 'string' } } });

    const answer = await call(client, 'calculate', { expression: '17.5% of 2,340' });
    expect(answer.structuredContent).toMatchObject({ result: '409.5', exact: true });
    expect(JSON.parse(answer.content[0]!.text)).toEqual(answer.structuredContent);

    const hostile: [string, Record<string, unknown> | undefined, RegExp][] = [
      ['regex_extract', { pattern: '(a+)+$', text: `${'a'.repeat(40)}b` }, /^TIMEOUT: .*simpler/],
      ['calculate', { expression: '9**9**9' }, /^LIMIT_EXCEEDED: .*369,693,100 digits/],
      ['calculate', { expression: "__import__('os')" }, /^INVALID_ARGUMENT: /],
      ['subnet_calc', { cidr: '2001:db8::/64', list_hosts: true }, /^LIMIT_EXCEEDED: /],
      ['text_analyze', { text: 'x'.repeat(2_000_000) }, /^LIMIT_EXCEEDED: /],
      ['calculate', { expr: '1' }, /^INVALID_ARGUMENT: .*known are expression/],
      ['calculate', undefined, /^INVALID_ARGUMENT: /],
      ['legal_get_paragraph', { law: 'BGB', paragraph: '433' }, /^NOT_CONFIGURED: .*--law-url/],
    ];
    const refused = await Promise.all(hostile.map(([name, args]) => call(client, name, args)));
    refused.forEach((result, i) => {
      expect(result.isError).toBe(true);
      expect(result.content[0]!.text).toMatch(hostile[i]![2]);
    });

    // The protocol wants an error for these, with the code of wrong parameters; our arguments are not in the SDK's types.
    const wrong: [string, object | undefined, RegExp][] = [
      ['tools/call', { name: 'nosuch', arguments: {} }, /: There is no tool "nosuch"\. The tools are: calculate/],
      ['tools/call', { name: 'calculate', arguments: ['1'] }, /: Invalid tools\/call request: params\.arguments: /],
      ['tools/call', undefined, /: Invalid tools\/call request: params: /],
      ['tools/list', { cursor: 'second' }, /: The list of tools has one page/],
      ['initialize', undefined, /: Invalid initialize request: params: /],
    ];
    for (const [method, params, message] of wrong) {
      const asked = client.request({ method, ...(params && { params }) } as Parameters<Client['request']>[0], EmptyResultSchema);
      await expect(asked).rejects.toMatchObject({ code: ErrorCode.InvalidParams, message: expect.stringMatching(message) });
    }

    const many = await Promise.all(Array.from({ length: 20 }, (_, i) => call(client, 'calculate', { expression: `${i}^20` })));
    expect(many.map(({ structuredContent }) => structuredContent?.result)).toEqual(
      Array.from({ length: 20 }, (_, i) => `${BigInt(i) ** 20n}`),
    );
  });

  it('answer the whole question set like their sources', async () => {
    const client = await open();
    const answers = await Promise.all(questions.map(([, tool, args]) => call(client, tool, args)));
    const given = answers.map(({ structuredContent, content }, n) => [questions[n]![0], structuredContent ?? content[0]!.text]);
    expect(given).toMatchObject(questions.map(([question, , , answer]) => [question, answer]));
  });
});

describe('the program over stdio', () => {
  /** Sends lines and returns the output until the program ends; its input is closed once `replies` lines have arrived. */
  async function talk(lines: readonly string[], replies: number): Promise<{ out: string[]; code: number | null }> {
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'ignore'], timeout: 30_000 });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.split('\n').length > replies) child.stdin.end();
    });
    child.stdin.write(lines.map((line) => `${line}\n`).join(''));
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
    return { out: text.trimEnd().split('\n'), code };
  }

  it('answers a message of more than 32 MiB with an error, continues, and ends with its input', async () => {
    const huge = JSON.stringify({
      jsonrpc: '2.0',
      method: 'tools/call',
      params: { name: 'hash_text', arguments: { text: 'x'.repeat(34 * 1024 * 1024) } },
      id: 7,
    });
    const { out, code } = await talk(
      [huge, '{"jsonrpc":"2.0","id":8,"method":"ping"}', 'this is no JSON', '{"jsonrpc":"2.0","id":9,"method":"ping"}'],
      3,
    );
    expect(out.map((line) => JSON.parse(line) as unknown)).toEqual([
      { jsonrpc: '2.0', id: 7, error: expect.objectContaining({ message: expect.stringContaining('longer than') }) },
      { jsonrpc: '2.0', id: 8, result: {} },
      { jsonrpc: '2.0', id: 9, result: {} },
    ]);
    expect(code).toBe(0);
  });
});

describe('the HTTP service', () => {
  /** `fetch` does not let a caller choose the Host. */
  const send = (
    url: string,
    { method = 'POST', headers = {}, body = '' }: { method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(
        url,
        { method, headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sent.once('error', reject).end(body);
    });
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

  it('accepts only this machine, by Host and by Origin', async () => {
    const url = await served(['tools.example']);
    expect(await send(url, { body: ping })).toBe(200);
    expect(await send(url, { body: ping, headers: { host: 'localhost:1', origin: 'http://localhost:3000' } })).toBe(200);
    expect(await send(url, { body: ping, headers: { host: 'tools.example' } })).toBe(200);
    const strangers: Record<string, string>[] = [
      { host: 'evil.example' },
      { host: '127.0.0.1.evil.example' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ];
    for (const headers of strangers) {
      expect(await send(url, { body: ping, headers })).toBe(403);
    }
  });

  it('answers only POST requests of bounded size at its path', async () => {
    const url = await served();
    expect(await send(url, { method: 'GET' })).toBe(405);
    expect(await send(url, { method: 'DELETE' })).toBe(405);
    expect(await send(url.replace('/mcp', '/other'), { body: ping })).toBe(404);
    expect(await send(url, { body: 'no JSON' })).toBe(400);
    expect(await send(url, { body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'x'.repeat(5 * 1024 * 1024)}"}}` })).toBe(413);
    expect(await send(url, { body: ping })).toBe(200);
  });
});
