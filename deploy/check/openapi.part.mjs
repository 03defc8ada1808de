import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '../stack/index.mjs';
import { lastLines, run as execute, startProcess, stopProcess } from '../stack/processes.mjs';
import { pythonEnvironment } from '../stack/python-environment.mjs';
import { accepted, readReport } from './openapi-findings.mjs';
import { check, until } from './until.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const version = '4.32.5';
const key = 'sk-check-openapi-operator-000000';

export const title = `Schemathesis ${version} holds the HTTP API against the document that it serves itself`;
export const unproven = [
  'A real model: the demo model answers, and no provider fails.',
  'Dead letters and contradictions: there are none, so their routes only answer 404 and 400.',
  `Findings that are as they should be are listed with reasons in deploy/check/openapi-findings.mjs: ${accepted.length} kinds.`,
];
const schemathesis = pythonEnvironment({
  name: 'schemathesis',
  requirements: path.join(root, 'deploy/check/schemathesis-requirements.txt'),
  purpose: 'Schemathesis requires',
});
export const missing = () => schemathesis.missing()?.reason ?? null;

/** Its program, whose script is not usable in an environment that was moved. */
const started = ['-c', 'import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())'];

export async function run({ fact }) {
  const python = await schemathesis.install();
  await execute(process.execPath, ['tools/build.mjs'], { cwd: root });
  const at = mkdtempSync(path.join(tmpdir(), 'conclave-openapi-'));
  try {
    for (const [when, examples] of [
      ['keyed', 10],
      ['keyless', 3],
    ])
      fact(await judged({ when, examples, at: path.join(at, when), python }));
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
}

/** Starts Conclave, with a key of an admin or without keys, and lets Schemathesis judge it. Returns what was found. */
async function judged({ when, examples, at, python }) {
  mkdirSync(at);
  const [port] = await freePorts(1);
  const configuration = when === 'keyed' ? { keys: { operator: { key_env: 'OPERATOR_KEY', role: 'admin' } } } : {};
  writeFileSync(path.join(at, 'conclave.yaml'), JSON.stringify(configuration));
  writeFileSync(path.join(at, 'admin.key'), `${key}\n`, { mode: 0o600 });
  const env = {
    ...{ PORT: String(port), CONCLAVE_HOME: path.join(at, 'data'), CONCLAVE_CONFIG: path.join(at, 'conclave.yaml'), CI: '1' },
    ...(when === 'keyed' ? { OPERATOR_KEY: key } : { CONCLAVE_ADMIN_KEY_FILE: path.join(at, 'admin.key') }),
  };
  const log = path.join(at, 'conclave.log');
  const server = await startProcess({ file: process.execPath, args: [path.join(root, 'dist/standalone.js')], cwd: at, env }, log, 'ours');
  const url = `http://127.0.0.1:${port}`;
  try {
    await until('Conclave', async () => (await fetch(`${url}/health/ready`)).ok, 120_000);
    const reports = path.join(at, 'reports');
    const options = [
      ...['--no-color', 'run', `${url}/openapi.json`, '-H', `Authorization: Bearer ${key}`, '--checks', 'all'],
      ...['--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', String(examples), '--seed', '7', '--no-shrink'],
      ...['--request-timeout', '20', '--max-response-time', '15', '--continue-on-failure', '--generation-database', 'none'],
      ...['--report', 'ndjson', '--report-dir', reports],
    ];
    const hooks = path.join(root, 'deploy/check/openapi-hooks.py');
    // It ends with 1 when it found anything; what counts is decided here.
    await execute('sh', ['-c', '"$@" || [ $? -eq 1 ]', 'sh', python, ...started, ...options], {
      cwd: at,
      env: { SCHEMATHESIS_HOOKS: hooks, CONCLAVE_URL: url, CONCLAVE_KEY: key, PYTHONHASHSEED: '0', PYTHONDONTWRITEBYTECODE: '1' },
      withinMs: 900_000,
    });
    const found = await readReport(path.join(reports, readdirSync(reports)[0]), when);
    const others = [...found.others];
    check(others.length === 0, `Schemathesis finds nothing else (${when}):\n${others.slice(0, 20).join('\n')}`);
    check(found.requests > 2_000 && found.statuses['2xx'] > 500, `enough requests reach something (${JSON.stringify(found.statuses)})`);
    const answers = Object.entries(found.statuses)
      .sort()
      .map(([status, count]) => `${count} ${status}`)
      .join(', ');
    return `${when === 'keyed' ? 'With keys' : 'Without keys'}: ${found.requests} requests (${answers}); ${found.accepted} findings are as they should be, no other.`;
  } catch (error) {
    throw new Error(`${error.message}\n${lastLines(log)}`, { cause: error });
  } finally {
    await stopProcess(server, 10_000);
  }
}
