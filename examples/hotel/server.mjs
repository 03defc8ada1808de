// Two MCP servers over standard input and output, without any library:
//   node server.mjs calendar
//   PMS_TOKEN=... node server.mjs pms
import { createInterface } from 'node:readline';
import { Refusal } from './dates.mjs';

const servers = {
  calendar: async () => (await import('./calendar.mjs')).tools,
  pms: async () => (await import('./pms.mjs')).openTools(process.env.PMS_TOKEN),
};

const name = process.argv[2] ?? '';
if (!Object.hasOwn(servers, name)) fail(`Name the server to start: ${Object.keys(servers).join(' or ')}.`);
const tools = await servers[name]().catch((error) => fail(error.message));

function fail(sentence) {
  // Standard output is reserved for the protocol.
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

/** Every tool only looks things up: a call may be repeated, and needs no approval. */
const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const listed = Object.entries(tools).map(([tool, { description, properties, required }]) => ({
  name: tool,
  description,
  inputSchema: { type: 'object', properties, required, additionalProperties: false },
  annotations,
}));

function call({ name: tool, arguments: given = {} }) {
  try {
    const structuredContent = tools[tool].run(given);
    return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { isError: true, content: [{ type: 'text', text: `${error.code}: ${error.message}` }] };
  }
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: `hotel-${name}`, version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: listed }),
  'tools/call': call,
};

function answer({ method, params = {} }) {
  if (!Object.hasOwn(methods, method)) return { error: { code: -32_601, message: 'There is no such method.' } };
  if (method === 'tools/call' && !Object.hasOwn(tools, params.name)) return { error: { code: -32_602, message: 'There is no such tool.' } };
  return { result: methods[method](params) };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  // A message without an id is a notification and expects no answer.
  if (message.id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer(message) })}\n`);
});
