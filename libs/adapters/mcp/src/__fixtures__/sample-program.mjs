// An MCP server over standard input and output, built with the SDK: the tools of the port's contract suite, and some for program behaviour.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, EmptyResultSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const text = (value, rest = {}) => ({ content: [{ type: 'text', text: value }], ...rest });
const object = (properties = {}, required = []) => ({ type: 'object', properties, required });
let cancelled = 0;

const tools = {
  echo: {
    description: `Says a text again.\u0007\n\n${'Very useful. '.repeat(100)}`,
    inputSchema: object({ text: { type: 'string' }, times: { type: 'integer' } }, ['text']),
    annotations: { readOnlyHint: true },
    run: ({ text: said, times = 1 }) => text(Array.from({ length: times }, () => said).join(' ')),
  },
  refuse: { inputSchema: object(), run: () => text('There is no such account.', { isError: true }) },
  wait: {
    inputSchema: object(),
    run: (_args, signal) => new Promise((resolve) => signal.addEventListener('abort', () => ((cancelled += 1), resolve(text('too late'))))),
  },
  cancelled: { inputSchema: object(), run: () => text(String(cancelled)) },
  long: { inputSchema: object(), run: () => text(`start\u0000${'x'.repeat(131_072)}`) },
  measure: {
    inputSchema: object({ unit: { type: 'string', enum: ['m', 'ft'] } }, ['unit']),
    outputSchema: object({ value: { type: 'number' }, unit: { type: 'string' } }, ['value', 'unit']),
    run: ({ unit }) => ({ content: [], structuredContent: { value: 12, unit } }),
  },
};
const more = {
  environment: { inputSchema: object(), run: () => text(JSON.stringify({ env: process.env, pid: process.pid, cwd: process.cwd() })) },
  grow: {
    inputSchema: object(),
    run: async () => {
      tools.grown = { inputSchema: object(), run: () => text('here') };
      await server.sendToolListChanged();
      return text('grown');
    },
  },
  lie: {
    inputSchema: object(),
    outputSchema: object({ value: { type: 'number' } }),
    run: () => ({ content: [], structuredContent: { value: 'much' } }),
  },
  picture: {
    inputSchema: object(),
    run: () => ({
      content: [
        { type: 'text', text: 'See:' },
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'all of it' } },
        { type: 'resource_link', uri: 'file:///b.txt', name: 'b' },
      ],
    }),
  },
  // `die` kills the program on every call.
  die: { inputSchema: object(), run: () => process.kill(process.pid, 'SIGKILL') },
  // Asks its client for something, and fails without it.
  ask: {
    inputSchema: object({ for: { type: 'string' } }),
    run: ({ for: method }) => server.request({ method, params: {} }, EmptyResultSchema),
  },
  'ask-and-tell': {
    inputSchema: object(),
    run: () =>
      server
        .request({ method: 'elicitation/create', params: {} }, EmptyResultSchema)
        .catch(() => text('Not confirmed.', { isError: true })),
  },
  raise: { inputSchema: object(), run: () => Promise.reject(new Error('disk\nfull')) },
};
if (process.argv.includes('more')) Object.assign(tools, more);

const server = new Server({ name: 'sample', version: '1' }, { capabilities: { tools: { listChanged: true } } });
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
  const names = Object.keys(tools);
  const from = Number(params?.cursor ?? 0);
  const page = names.slice(from, from + 4).map((name) => ({ name, ...tools[name], run: undefined }));
  return { tools: page, ...(from + 4 < names.length ? { nextCursor: String(from + 4) } : {}) };
});
server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => tools[params.name].run(params.arguments ?? {}, signal));
await server.connect(new StdioServerTransport());
