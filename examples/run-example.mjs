// One runnable example for each strategy: `npm run example -- <strategy> ["your own question"]`.
//   OPENAI_BASE_URL=http://127.0.0.1:11434/v1 npm run example -- reasoning      with the models of any OpenAI-compatible server
//   npm run example -- costs                                                    what each strategy costs, as a table
// Without OPENAI_BASE_URL a stand-in for a model answers, so that every example can be watched on any machine.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../tests/support/src/system/index.ts';
import { workspaceRoot } from '../tools/workspace.mjs';
import { costsTable, withTable } from './strategies/costs.mjs';
import { startHotelStandIn, startStandIn } from './strategies/stand-ins.mjs';

const documents = { configuration: 'examples/strategies/conclave.yaml', standIn: startStandIn };
const town = 'In which town was the founder of the Northlight Clock Company born?';
const compared = 'Compare the Northlight Clock Company and the Tidewater Clock Company: when was each founded?';

/** Strategy -> its template and a question that shows what it is for. */
const examples = {
  'single-pass': { ...documents, template: 'single-pass', question: 'Who founded the Tidewater Clock Company?' },
  agentic: { ...documents, template: 'agentic', question: town },
  waves: {
    configuration: 'examples/hotel/conclave.yaml',
    standIn: startHotelStandIn,
    template: 'hotel',
    question: 'Hanukkah and also next weekend',
  },
  reasoning: { ...documents, template: 'reasoning', question: town },
  'reflective-rag': { ...documents, template: 'reflective-rag', question: town },
  decompose: { ...documents, template: 'decompose', question: compared },
  adaptive: { ...documents, template: 'adaptive', question: compared },
};

const help = `npm run example -- <strategy> ["your own question"]

${Object.entries(examples)
  .map(([name, { question }]) => `  ${name.padEnd(16)}${question}`)
  .join('\n')}

  costs           a table of what each of them costs with a stand-in for a model; --write puts it into docs/guides/templates.md

Set OPENAI_BASE_URL, and OPENAI_API_KEY if the server requires one, to use real models.
`;

const program = join(workspaceRoot, 'dist/standalone.js');

/** Variables for the installation of an example: a temporary data folder, and no running gateway. */
async function environmentOf({ configuration }, home, baseUrl, key) {
  const [port] = await freePorts(1);
  const others = ['CONCLAVE_URL', 'CONCLAVE_API_KEY', 'OPENAI_API_KEY'];
  return {
    PMS_TOKEN: 'any-token',
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !others.includes(name))),
    ...(key === undefined ? {} : { OPENAI_API_KEY: key }),
    ...{ CONCLAVE_CONFIG: join(workspaceRoot, configuration), CONCLAVE_HOME: home, OPENAI_BASE_URL: baseUrl, PORT: String(port) },
  };
}

/** Runs `use` with the environment of an example; model and data folder are removed afterwards. */
async function installed(example, own, use) {
  const home = mkdtempSync(join(tmpdir(), 'conclave-example-'));
  const standIn = own ? null : await example.standIn();
  try {
    return await use(await environmentOf(example, home, own ?? standIn.url, own ? process.env.OPENAI_API_KEY : undefined));
  } finally {
    await standIn?.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Asks the question as `npm run ask` does, with progress on standard error and the answer on standard output. Returns the exit code. */
function ask(example, question, own) {
  return installed(example, own, async (env) => {
    process.stderr.write(
      `Template ${example.template} of ${example.configuration}, ${own ? `models of ${own}` : 'with a stand-in for a model'}\n`,
    );
    const args = [program, 'ask', '--no-cache', '--model', example.template, question];
    const child = spawn(process.execPath, args, { cwd: workspaceRoot, env, stdio: ['ignore', 'inherit', 'inherit'] });
    // The child receives the signal too: it cancels its run, and its folder is removed afterwards.
    process.on('SIGINT', () => undefined);
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
  });
}

const page = join(workspaceRoot, 'docs/guides/templates.md');

async function main([name, ...words]) {
  if (name === 'costs') {
    const table = await costsTable((configuration, use) => {
      const example = Object.values(examples).find((one) => one.configuration === configuration);
      return installed(example, null, use);
    }, program);
    if (words.includes('--write')) writeFileSync(page, withTable(readFileSync(page, 'utf8'), table));
    process.stdout.write(`${table}\n`);
    return 0;
  }
  const example = Object.hasOwn(examples, name ?? '') ? examples[name] : null;
  if (!example) {
    process.stdout.write(help);
    return name === undefined || name === '--help' ? 0 : 2;
  }
  return ask(example, words.join(' ').trim() || example.question, process.env.OPENAI_BASE_URL || null);
}

process.exitCode = await main(process.argv.slice(2));
