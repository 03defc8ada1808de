import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '../stack/index.mjs';
import { lastLines, run as execute, startProcess, stopProcess } from '../stack/processes.mjs';
import { cacheFolder } from '../stack/settings.mjs';
import { AgentsModel, content, signing } from './agents-model.mjs';
import { check, until } from './until.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const versions = {
  '@anthropic-ai/claude-code': '2.1.197',
  '@openai/codex': '0.171.0',
  'opencode-ai': '1.18.33',
  '@qwen-code/qwen-code': '0.24.4',
  '@continuedev/cli': '1.5.47',
  cline: '3.0.65',
};

export const title = `real coding agents use their tools through Conclave: ${Object.entries(versions)
  .map((one) => one.join(' '))
  .join(', ')}`;
export const unproven = [
  'Sessions of many questions, sub-agents and the compaction of long conversations.',
  'A real model: a scripted one calls the shell of the agent twice, and signs its calls as Gemini documents it.',
];
export const missing = () => (process.platform === 'linux' ? null : 'it was only written for Linux');

/** Installs the agents at the first use, outside the workspace. Returns the folder of their programs. */
async function install() {
  const folder = path.join(cacheFolder, `agents-${Object.values(versions).join('-')}`);
  const whole = path.join(folder, 'whole');
  if (!existsSync(whole)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: versions }));
    await execute('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder, withinMs: 600_000 });
    const scripts = { '@anthropic-ai/claude-code': 'install.cjs', 'opencode-ai': 'postinstall.mjs' };
    for (const [name, script] of Object.entries(scripts))
      await execute(process.execPath, [script], { cwd: path.join(folder, 'node_modules', name), withinMs: 120_000 });
    writeFileSync(whole, '');
  }
  return path.join(folder, 'node_modules/.bin');
}

/** Command, settings and environment of each agent by the name of its program; `url`: Conclave. `first`: a command that runs before. */
const agents = {
  claude: (url, model, task) => ({
    args: ['-p', task, '--dangerously-skip-permissions'],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: 'none',
      ANTHROPIC_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    },
    files: {},
  }),
  codex: (url, model, task) => ({
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', task],
    env: {},
    // Its requests contain the tools of this server in a namespace.
    calculates: true,
    files: {
      '.codex/config.toml': `model = "${model}"\nmodel_provider = "conclave"\n[model_providers.conclave]\nname = "Conclave"\nbase_url = "${url}/v1"\nwire_api = "responses"\n[mcp_servers.sums]\ncommand = "node"\nargs = ["${path.join(root, 'dist/precision-tools.js')}"]\n`,
    },
  }),
  opencode: (url, model, task) => ({
    args: ['run', '-m', `conclave/${model}`, task],
    env: {},
    files: {
      'project/opencode.json': JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        provider: {
          conclave: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Conclave',
            options: { baseURL: `${url}/v1`, apiKey: 'none' },
            models: { [model]: { name: model } },
          },
        },
      }),
    },
  }),
  qwen: (url, model, task) => ({
    args: ['--auth-type', 'openai', '--yolo', '-p', task],
    env: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none', OPENAI_MODEL: model },
    files: {},
  }),
  cn: (url, model, task) => ({
    args: ['--config', '../config.json', '--auto', '-p', task],
    env: { CI: '1' },
    files: {
      // JSON is YAML.
      'config.json': JSON.stringify({
        name: 'Conclave',
        version: '1.0.0',
        schema: 'v1',
        models: [
          {
            name: 'conclave',
            provider: 'openai',
            model,
            apiBase: `${url}/v1`,
            apiKey: 'none',
            roles: ['chat'],
            capabilities: ['tool_use'],
          },
        ],
      }),
    },
  }),
  cline: (url, model, task) => ({
    first: ['auth', '-p', 'openai', '-k', 'none', '-m', model, '-b', `${url}/v1`],
    args: ['-P', 'openai', '-m', model, task],
    env: { CI: '1' },
    files: {},
  }),
};

export async function run({ fact }) {
  const programs = await install();
  await execute(process.execPath, ['tools/build.mjs'], { cwd: root });
  const at = mkdtempSync(path.join(tmpdir(), 'conclave-agents-'));
  const model = new AgentsModel();
  const started = [];
  try {
    const upstream = await model.listen();
    const [port] = await freePorts(1);
    const template = {
      description: 'For agents',
      strategy: 'agentic',
      client_tools: 'pass_through',
      experts: { general: { t1: ['coder@up'] } },
    };
    writeFileSync(
      path.join(at, 'conclave.yaml'),
      JSON.stringify({ providers: { up: { base_url: upstream } }, templates: { agent: template } }),
    );
    const env = { PORT: String(port), CONCLAVE_HOME: path.join(at, 'data'), CONCLAVE_CONFIG: path.join(at, 'conclave.yaml'), CI: '1' };
    started.push(
      await startProcess(
        { file: process.execPath, args: [path.join(root, 'dist/standalone.js')], cwd: at, env },
        path.join(at, 'conclave.log'),
        'ours',
      ),
    );
    const url = `http://127.0.0.1:${port}`;
    await until('Conclave', async () => (await fetch(`${url}/health/ready`)).ok, 120_000);
    for (const name of Object.keys(agents))
      for (const [way, id] of [
        ['a model', 'coder@up'],
        ['a template', 'agent'],
        ['a model that signs its calls as Gemini 3', `${signing}@up`],
      ])
        fact(await used({ name, way, id, url, programs, at }, model));
  } catch (error) {
    throw new Error(`${error.message}\n${lastLines(path.join(at, 'conclave.log'))}`, { cause: error });
  } finally {
    for (const one of started.reverse()) await stopProcess(one, 10_000);
    await model.close();
    rmSync(at, { recursive: true, force: true });
  }
}

const isAboutSignatures = (fault) => fault.includes('thought_signature');

/** Lets an agent write a file with its own tool. Returns what was found. */
async function used({ name, way, id, url, programs, at }, model) {
  const home = path.join(at, `${name}-${id.replace('@', '-')}`);
  const project = path.join(home, 'project');
  mkdirSync(project, { recursive: true });
  const file = `made-${name}.txt`;
  const { first, args, env, files, calculates = false } = agents[name](url, id, `Write ${content} into ${file} with your shell.`);
  for (const [where, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(home, where)), { recursive: true });
    writeFileSync(path.join(home, where), text);
  }
  const asked = model.asked;
  model.refused = [];
  model.calculated = false;
  // Agents read the folder of their project from PWD.
  const started = { cwd: project, env: { ...env, HOME: home, PWD: project }, withinMs: 180_000 };
  if (first) await execute(path.join(programs, name), first, started);
  const output = await execute(path.join(programs, name), args, started);
  const made = path.join(project, file);
  check(
    existsSync(made) && readFileSync(made, 'utf8').trim() === content,
    `${name} writes the file through ${way}:\n${output.slice(-2_000)}`,
  );
  check(output.includes(`The file ${file} is there.`), `${name} shows the answer of ${way}:\n${output.slice(-2_000)}`);
  check(
    id !== `${signing}@up` || !model.refused.some(isAboutSignatures),
    `${name} returns the ids of calls whole: ${model.refused.join(' ')}`,
  );
  check(model.calculated === calculates, `${name} uses a tool of its MCP server through ${way}:\n${output.slice(-2_000)}`);
  const again = model.refused.length > 0 ? `, of which the model's server refused ${model.refused.length} at first` : '';
  return `${name} through ${way}: ${calculates ? 'its MCP server calculated, ' : ''}its tool wrote the file in two calls, and the answer arrived; ${model.asked - asked} requests${again}.`;
}
