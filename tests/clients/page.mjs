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
    'What clients of others do against the running program, with a scripted model behind it: e2e `clients`, and in both modes `npm run test:surface`.',
    'A dash means that the capability was not tried: most of these the client does not have. A cell that fails names an issue of its upstream, or the test fails.',
    '',
    row(heads),
    row(heads.map(() => '---')),
    ...rows.map(row),
    '',
    'Tools were tried with a template with `client_tools: pass_through` and directly with `model@provider`, structured output with a strict schema.',
    '`abort` says that the client ends an answer in the middle, and that the call to the model ends with it.',
    'LangChain.js with `streaming: true` fetches a table of tokens from the network and waits for it; `stream()` does not.',
    '',
    'Not run: clients in Python (openai-python, LangChain), LiteLLM in front, and deep-chat in a browser.',
    '',
  ].join('\n');
}
