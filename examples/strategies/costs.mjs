// What each strategy costs with a stand-in for a model: calls and tokens of the same questions, counted by the product. The replies
// follow rules, so that the figures are the same in every run; a real model writes longer replies and may need more rounds.
import { Supervised, until } from '../../tests/support/src/index.ts';
import { ask } from '../../tests/support/src/system/index.ts';

/** Questions for every strategy that answers from documents, and the words that a right answer contains. */
const questions = [
  { title: 'One fact', text: 'Who founded the Tidewater Clock Company?', holds: ['Ilse Brandvold'] },
  { title: 'Two hops', text: 'In which town was the founder of the Northlight Clock Company born?', holds: ['Saint Orrin'] },
  {
    title: 'A comparison',
    text: 'Compare the Northlight Clock Company and the Tidewater Clock Company: when was each founded?',
    holds: ['1902', '1887'],
  },
];
const templates = ['single-pass', 'agentic', 'reflective-rag', 'reasoning', 'decompose', 'adaptive'];
const hotelQuestion = { text: 'Hanukkah and also next weekend', holds: ['2026-12-04', '2025-01-17'] };

/** Milliseconds to wait until the tools of the hotel are listed. */
const toolsMs = 30_000;

/** A gateway of this installation, for as long as `use` needs it; `use` receives its address. */
async function served(env, program, use) {
  const url = `http://127.0.0.1:${env.PORT}`;
  const gateway = await Supervised.start({
    ...{ name: 'the example', args: [program], ready: `${url}/health/ready`, readyTimeoutMs: 60_000 },
    env: { CONCLAVE_URL: undefined, CONCLAVE_API_KEY: undefined, OPENAI_API_KEY: undefined, ...env },
  });
  try {
    return await use(url);
  } finally {
    await gateway.stop();
  }
}

/** Asks once. Returns calls, tokens, and whether the answer contains what it should. */
async function costOf(url, model, { text, holds }) {
  const messages = [{ role: 'user', content: text }];
  const { status, body } = await ask(url, { model, messages }, { 'x-conclave-cache': 'off' });
  if (status !== 200) throw new Error(`${model} did not answer "${text}": ${body.error?.message}`);
  const answer = String(body.choices[0].message.content);
  return { calls: body.conclave.calls, tokens: body.usage.total_tokens, isRight: holds.every((part) => answer.includes(part)) };
}

const cell = ({ calls, tokens, isRight }) => `${calls} calls, ${tokens} tokens${isRight ? '' : ', not answered'}`;

/** Costs of every strategy as a table in Markdown. `installed` opens an installation of a configuration and passes its environment on. */
export async function costsTable(installed, program) {
  const rows = new Map(templates.map((name) => [name, []]));
  // A fresh installation for each question: otherwise the memory of `reasoning` would appear in the prompts of the next one.
  for (const question of questions)
    await installed('examples/strategies/conclave.yaml', (env) =>
      served(env, program, async (url) => {
        for (const name of templates) rows.get(name).push(cell(await costOf(url, name, question)));
      }),
    );
  const waves = await installed('examples/hotel/conclave.yaml', (env) =>
    served(env, program, async (url) => {
      await until('the tools of the hotel', async () => (await costOf(url, 'hotel', { text: 'tomorrow', holds: ['standard'] })).isRight, {
        timeoutMs: toolsMs,
      });
      return costOf(url, 'hotel', hotelQuestion);
    }),
  );
  return [
    `| Strategy | ${questions.map(({ title }) => title).join(' | ')} |`,
    `|---|${questions.map(() => '---|').join('')}`,
    ...[...rows].map(([name, cells]) => `| \`${name}\` | ${cells.join(' | ')} |`),
    `| \`waves\` | – | the hotel's question: ${cell(waves)} | – |`,
  ].join('\n');
}

const [begin, end] = ['<!-- costs -->\n', '<!-- end of costs -->'];

/** A page with another table between its marks. Throws if it has no marks. */
export function withTable(page, table) {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error('The page has no marks for the table of costs.');
  return `${page.slice(0, from + begin.length)}${table}\n${page.slice(to)}`;
}
