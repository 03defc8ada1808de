// Prints docs/clients.md from the results of the last run of the clients.
import { readFileSync } from 'node:fs';

const read = (name) => JSON.parse(readFileSync(`tests/clients/${name}.json`, 'utf8'));
const modes = ['embedded', 'distributed'];

const cellOf = (found, issue) => {
  if (!found) return '–';
  if (Object.values(found).includes('fails')) return `fails${issue ? ` ([upstream](${issue}))` : ''}`;
  const tried = modes.filter((mode) => found[mode]);
  return tried.length === modes.length ? 'passes' : `passes, ${tried.join(', ')}`;
};

export function clientsPage() {
  const results = read('results');
  const issues = read('upstream-issues');
  const clients = Object.entries(results);
  const capabilities = [...new Set(clients.flatMap(([, { capabilities }]) => Object.keys(capabilities)))];
  const heads = ['', ...clients.map(([name, { version }]) => `${name} ${version}`)];
  const rows = capabilities.map((capability) => [
    capability,
    ...clients.map(([name, found]) => cellOf(found.capabilities[capability], issues[name]?.[capability])),
  ]);
  const row = (cells) => `| ${cells.join(' | ')} |`;
  return [
    '# Clients',
    '',
    '<!-- Printed by `npm run docs` from tests/clients/results.json. -->',
    '',
    'This page shows what third-party clients can do with the running program, with a scripted model behind it. The e2e suites `clients`, `python-clients` and `browser-clients` run',
    'them; `npm run test:surface` runs them in both modes. Each cell is a test. A dash means that the capability was not tried, usually because the client does not have it. A cell that',
    'fails must name an upstream issue; otherwise its test fails.',
    '',
    row(heads),
    row(heads.map(() => '---')),
    ...rows.map(row),
    '',
    '- `tools, template` uses a template with `client_tools: pass_through`, `tools, asked first` one with `ask_first`, and `tools, direct` a `model@provider`; each whole and streamed if',
    '  the client can do both. `structured output` uses a strict schema.',
    '- Vercel AI SDK (Responses) uses its provider for OpenAI, which speaks the Responses API by default and names earlier answers instead of sending them, and its provider for Open Responses.',
    '- `structured output` of Pydantic AI is tried with a function that must be called, its default, and with a schema. OpenAI Agents is tried with both of its APIs.',
    '- `repeated request` sends a request twice with one `Idempotency-Key`: one run, one answer.',
    '- `abort`: the client stops an answer in the middle, and the call to the model ends with it.',
    '- LangChain.js with `streaming: true` downloads a token table from the network and waits for it; `stream()` does not. Embeddings of LangChain in Python download it too (the tests provide it)',
    '  and send token ids: `conclave-embedding` reads those of cl100k_base, which LangChain uses for a name that it does not know. `check_embedding_ctx_length=False` sends the text.',
    "- LiteLLM's proxy is in front of Conclave, with one entry for all models ([how](guides/open-webui.md#litellm-in-front)), and is called with openai-python; `messages` goes to the",
    "  proxy's own `/v1/messages`, which it translates.",
    '- deep-chat runs on a page of another origin (`cors_origins`), and the test types into it ([how](guides/open-webui.md#deep-chat)). If the end of a stream reaches a busy page together with text, it',
    '  shows the error "No valid stream events were sent" below the answer, or leaves out the words that arrived with the end. This happens with any server, and answers from the cache arrive like',
    '  that. In this test the model replies word by word, and an answer that was shown incompletely is requested again, up to ten times.',
    '',
  ].join('\n');
}
