// Prints docs/clients.md from what the clients found when they were last run.
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
    'What clients of others do against the running program, with a scripted model behind it: e2e `clients`, `python-clients` and `browser-clients`, and in both modes',
    '`npm run test:surface`. Each cell is a test. A dash means that the capability was not tried: most of these the client does not have. A cell that fails names an issue of its',
    'upstream, or its test fails.',
    '',
    row(heads),
    row(heads.map(() => '---')),
    ...rows.map(row),
    '',
    '- `tools, template` is a template with `client_tools: pass_through`, `tools, asked first` one with `ask_first`, `tools, direct` a `model@provider`; each whole and streamed where',
    '  the client can do both. Structured output has a strict schema.',
    '- `repeated request` sends a request twice with one `Idempotency-Key`: one run, one answer.',
    '- `abort` says that the client ends an answer in the middle, and that the call to the model ends with it.',
    '- LangChain.js with `streaming: true` fetches a table of tokens from the network and waits for it; `stream()` does not. Embeddings of LangChain in Python fetch it too (the tests give it to them) and',
    '  send the numbers of tokens: `conclave-embedding` reads those of cl100k_base, which LangChain takes for a name that it does not know. `check_embedding_ctx_length=False` sends the text.',
    "- LiteLLM's proxy stands in front, with one entry for all models ([how](guides/open-webui.md#litellm-in-front)), and is asked with openai-python; `messages` goes to its own",
    '  `/v1/messages`, which it translates.',
    '- deep-chat runs on a page of another origin (`cors_origins`) and is typed into ([how](guides/open-webui.md#deep-chat)). When the end of a stream reaches a busy page together with text, it shows the',
    '  error "No valid stream events were sent" below the answer, or leaves out the words that came with the end, with any server: answers from the cache come like that. Here the model',
    '  speaks word by word, and what was shown so is asked again, up to ten times.',
    '',
  ].join('\n');
}
