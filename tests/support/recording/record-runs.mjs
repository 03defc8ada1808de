// Records the runs that today's code must still decide in the same way: one NDJSON file for each template. The runs of the committee ask the
// demo model about its sample documents; those of waves use a scripted server and the calculator.
//   node tools/run.mjs record-runs
// writes libs/replay/src/__fixtures__/*.ndjson. Run it after a prompt, a parser or a rule was changed on purpose: the difference of the
// files then shows reviewers what changed. `npx jest recorded-runs` compares them with the code.
//   node tools/run.mjs record-runs <data folder> <run id>
// prints a run of a stopped server instead, for a separate file. That file contains the recorded prompts and replies of the run.
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleQuestion } from '../../../libs/adapters/demo/src/index.ts';
import { openSqlite } from '../../../libs/adapters/sqlite/src/index.ts';
import { promptMarks as marks, toolOffersSetting, topicsFor } from '../../../libs/contracts/src/index.ts';
import { loadConfiguration } from '../../../libs/platform/src/index.ts';
import { expertPrompts } from '../../../libs/strategies/src/index.ts';
import { ask } from '../../../apps/standalone/src/commands/ask.ts';
import { ScriptedModelServer } from '../src/index.ts';

const committee = { question: sampleQuestion(), script: [] };
const calculate = (id, expression) => ({ id, tool: 'precision.calculate', args: { expression } });
const wave = (earlier, status, tools) => ({
  match: { system: marks.roles.waves, user: earlier },
  reply: { text: JSON.stringify({ status, action: `Calculating, ${tools.length} at once.`, slots: {}, tools, reasoning: 'Sums first.' }) },
});
const part = (role, user, says) => ({
  match: { system: marks.roles[role], ...(user === undefined ? {} : { user }) },
  reply: { text: JSON.stringify(says) },
  ...(user === undefined ? { times: Infinity } : {}),
});
const subTopics = [
  part('decomposer', undefined, {
    topics: [
      { topic: 'Gull Works', query: 'Gull Works founded', collections: [] },
      { topic: 'Ada Quist', query: 'Ada Quist born', collections: [] },
    ],
    synthesis: 'merge',
  }),
  part('topicReader', 'TASK: Gull Works', { facts: [{ fact: 'Ada Quist founded the Gull Works.', source: 1 }] }),
  part('topicReader', 'TASK: Ada Quist', { facts: [{ fact: 'Ada Quist was born in Brest.', source: 1 }] }),
  { match: { system: marks.roles.composer }, reply: { text: 'By Ada Quist of Brest [1].', words: true }, times: Infinity },
];
const runs = {
  decompose: { model: 'conclave-decompose', question: 'Who founded the Gull Works, and where was Ada Quist born?', script: subTopics },
  // Its sub-topics were researched by an earlier run.
  'decompose-from-cache': {
    model: 'conclave-decompose',
    earlier: 'Who founded the Gull Works, and where was Ada Quist born?',
    question: 'What do you know about the Gull Works and about Ada Quist?',
    script: subTopics,
  },
  agentic: { ...committee, model: 'conclave' },
  'single-pass': { ...committee, model: 'conclave-fast' },
  waves: {
    model: 'conclave-waves',
    question: 'What is 17 * 23, what is 4 + 5, and what is the product of both?',
    script: [
      wave('This is wave 1', 'continue', [calculate('a', '17 * 23'), calculate('b', '4 + 5')]),
      wave('This is wave 2', 'done', [calculate('c', '391 * 9')]),
      { match: { system: marks.roles.composer }, reply: { text: '391, 9 and 3519 [3].', words: true } },
    ],
  },
  'reflective-rag': {
    model: 'conclave-reflective-rag',
    question: 'Where was the founder of the Gull Works born?',
    script: [
      part('router', undefined, { class: 'factual', collections: ['research'] }),
      part('reader', 'QUERY: Where was', { facts: [{ fact: 'Ada Quist founded the Gull Works.', passage: 1 }] }),
      part('evaluator', /FACTS:(?![^]*\[2\])/u, { quality: 'partial', missing: ['the birthplace of Ada Quist'] }),
      part('refiner', undefined, { query: 'birthplace of Ada Quist' }),
      part('reader', 'QUERY: birthplace', { facts: [{ fact: 'Ada Quist was born in Brest.', passage: 1 }] }),
      part('evaluator', /\[2\]/u, { quality: 'sufficient', missing: [] }),
      { match: { system: marks.roles.composer }, reply: { text: 'In Brest [2].', words: true } },
    ],
  },
};
/** Documents of the runs that ask a scripted server. */
const documents = {
  'works.md': '# Gull Works\n\nThe Gull Works were founded by Ada Quist in 1874.\n',
  'ada.md': '# Ada Quist\n\nAda Quist was born in Brest and built bridges.\n',
};
const tools = [{ name: 'precision.calculate', description: 'Calculates.', signature: 'expression: string', repeatable: true }];

/** The configuration of a run that asks a scripted server, and its tools as a server of the product would have recorded them. */
async function prepare(home, url) {
  const config = join(home, 'conclave.yaml');
  const corpus = join(home, 'documents');
  mkdirSync(corpus, { recursive: true });
  for (const [name, text] of Object.entries(documents)) writeFileSync(join(corpus, name), text);
  writeFileSync(config, `providers:\n  scripted:\n    base_url: ${url}\nsearch:\n  corpus: ${corpus}\n`);
  const store = openSqlite({ home, processId: 'recorder', durability: 'process', prunes: false });
  await store.state.settings.write(toolOffersSetting, 0, { tools });
  await store.close();
  return { CONCLAVE_CONFIG: config };
}

/** Lines of the requested runs by run id, in the order of the log. A body that is stored separately is put back. */
async function linesOf(home, wanted) {
  const store = openSqlite({ home, processId: 'recorder', durability: 'process', prunes: false });
  const records = [];
  try {
    for (const { name } of topicsFor())
      for await (const { topic, offset, appendedAt, headers, raw, event } of store.log.read(name)) {
        const runId = event?.runId ?? headers.ce_runid;
        if (!wanted(runId)) continue;
        const body = event ? JSON.stringify(event.data) : raw.toString('utf8');
        const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !event || name !== 'ce_dataref'));
        records.push({ runId, at: Number(offset), line: JSON.stringify({ topic, appendedAt, headers: kept, body }) });
      }
  } finally {
    await store.close();
  }
  const runs = new Map();
  for (const { runId, line } of records.sort((a, b) => a.at - b.at)) runs.set(runId, [...(runs.get(runId) ?? []), line]);
  return runs;
}

const [home, runId] = process.argv.slice(2);
if (home) {
  const lines = (await linesOf(home, (id) => id === runId)).get(runId);
  if (!lines) {
    console.error('Usage: node tools/run.mjs record-runs [<data folder> <run id>]; no such run is recorded there.');
    process.exit(2);
  }
  console.log(lines.join('\n'));
} else {
  const folder = join(process.cwd(), 'libs/replay/src/__fixtures__');
  const sink = { write: () => undefined };
  mkdirSync(folder, { recursive: true });
  for (const [name, { model, earlier = [], question, script }] of Object.entries(runs)) {
    const data = mkdtempSync(join(tmpdir(), 'conclave-record-'));
    const server = script.length > 0 ? await ScriptedModelServer.start({ script }) : null;
    try {
      const variables = server ? await prepare(data, server.url) : {};
      const loaded = loadConfiguration({ CONCLAVE_HOME: data, PORT: '9', ...variables }, data, { categories: Object.keys(expertPrompts) });
      for (const asked of [earlier, question].flat()) {
        const code = await ask({
          loaded,
          question: asked,
          model,
          answer: sink,
          progress: sink,
          // Model servers are not searched for: the demo model returns the same replies everywhere.
          localServers: { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 },
          signal: new AbortController().signal,
        });
        if (code !== 0) throw new Error(`The question to ${model} ended with code ${code}.`);
      }
      const lines = [...(await linesOf(data, () => true)).values()].at(-1);
      writeFileSync(join(folder, `${name}.ndjson`), `${lines.join('\n')}\n`);
      console.error(`${name}: ${lines.length} records`);
    } finally {
      await server?.close();
      rmSync(data, { recursive: true, force: true });
    }
  }
}
process.exit(0);
