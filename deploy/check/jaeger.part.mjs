import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '../stack/index.mjs';
import { findOnPath, lastLines, run as execute, startProcess, stopProcess } from '../stack/processes.mjs';
import { cacheFolder } from '../stack/settings.mjs';
import { check, until } from './until.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const version = 'v1.76.0';

export const title = 'a real Jaeger receives the trace of a run and shows one trace with one root through five services';
export const unproven = [
  'The web page of Jaeger: only the answers of its API were checked.',
  'Jaeger with a store on disk: the check keeps traces in memory.',
];
export const missing = () =>
  findOnPath('go') === null && !existsSync(program)
    ? `it needs Go 1.24 or newer, to build Jaeger ${version} once: a quarter of an hour on two idle cores`
    : null;

const folder = path.join(cacheFolder, `jaeger-${version}`);
const program = path.join(folder, 'jaeger');

/** Builds Jaeger from the Go module proxy: its own go.mod contains replacements, so it is built in a copy of its module. */
async function buildJaeger(fact) {
  if (existsSync(program)) return;
  mkdirSync(folder, { recursive: true });
  const began = Date.now();
  const found = JSON.parse(await execute('go', ['mod', 'download', '-json', `github.com/jaegertracing/jaeger@${version}`]));
  const source = path.join(folder, 'source');
  rmSync(source, { recursive: true, force: true });
  cpSync(found.Dir, source, { recursive: true });
  await execute('chmod', ['-R', 'u+w', source]);
  const draft = `${program}.draft`;
  const build = ['-n', '19', 'go', 'build', '-trimpath', '-ldflags=-s', '-o', draft, './cmd/jaeger'];
  await execute('nice', build, { cwd: source, withinMs: 5_400_000 });
  renameSync(draft, program);
  rmSync(source, { recursive: true, force: true });
  fact(`Jaeger ${version} was built in ${Math.round((Date.now() - began) / 1_000)} s.`);
}

/** In JSON, which is YAML. */
const settings = ({ otlp, http, grpc }) => ({
  service: {
    extensions: ['jaeger_storage', 'jaeger_query'],
    pipelines: { traces: { receivers: ['otlp'], processors: ['batch'], exporters: ['jaeger_storage_exporter'] } },
    telemetry: { metrics: { level: 'none' } },
  },
  extensions: {
    jaeger_storage: { backends: { kept: { memory: { max_traces: 1_000 } } } },
    jaeger_query: {
      storage: { traces: 'kept' },
      http: { endpoint: `127.0.0.1:${http}` },
      grpc: { endpoint: `127.0.0.1:${grpc}` },
    },
  },
  receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${otlp}` } } } },
  processors: { batch: { timeout: '200ms' } },
  exporters: { jaeger_storage_exporter: { trace_storage: 'kept' } },
});

const json = async (url) => (await fetch(url)).json();

export async function run({ fact }) {
  await buildJaeger(fact);
  await execute(process.execPath, ['tools/build.mjs'], { cwd: root });
  const at = mkdtempSync(path.join(tmpdir(), 'conclave-jaeger-'));
  const [otlp, http, grpc, port] = await freePorts(4);
  const started = [];
  const start = async (name, command) => {
    const one = await startProcess(command, path.join(at, `${name}.log`), 'ours');
    started.push(one);
  };
  try {
    writeFileSync(path.join(at, 'jaeger.yaml'), JSON.stringify(settings({ otlp, http, grpc })));
    await start('jaeger', { file: program, args: ['--config', path.join(at, 'jaeger.yaml')], cwd: at });
    const api = `http://127.0.0.1:${http}/api`;
    await until('Jaeger', async () => (await fetch(`${api}/services`)).ok, 60_000);
    const env = {
      PORT: String(port),
      CONCLAVE_HOME: path.join(at, 'data'),
      CI: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${otlp}`,
    };
    await start('conclave', { file: process.execPath, args: [path.join(root, 'dist/standalone.js')], cwd: at, env });
    const url = `http://127.0.0.1:${port}`;
    await until('Conclave', async () => (await fetch(`${url}/health/ready`)).ok, 120_000);
    await showsOneTrace(url, api, fact);
    fact(`The program of Jaeger ${version} has ${Math.round(statSync(program).size / 1_048_576)} MB.`);
  } catch (error) {
    const tails = ['jaeger', 'conclave']
      .map((name) => path.join(at, `${name}.log`))
      .filter(existsSync)
      .map((log) => lastLines(log));
    throw new Error(`${error.message}\n${tails.join('\n')}`, { cause: error });
  } finally {
    for (const one of started.reverse()) await stopProcess(one, 10_000);
    rmSync(at, { recursive: true, force: true });
  }
}

async function showsOneTrace(url, api, fact) {
  const question = 'In which town was the founder of the Northlight Clock Company born?';
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'conclave', messages: [{ role: 'user', content: question }] }),
  });
  check(response.ok, `the question is answered (${response.status})`);
  await response.text();
  const runId = response.headers.get('x-run-id');
  // If the client sends no trace id, the id of the trace is derived from the id of the run.
  const traceId = createHash('sha256').update(`trace ${runId}`).digest('hex').slice(0, 32);
  const services = ['gateway', 'planner', 'experts', 'merger', 'graph-ingest'].map((name) => `conclave-${name}`);
  const trace = await until(
    'the whole trace in Jaeger',
    async () => {
      const { data } = await json(`${api}/traces/${traceId}`);
      const names = new Set(Object.values(data?.[0]?.processes ?? {}).map(({ serviceName }) => serviceName));
      return data?.length === 1 && services.every((name) => names.has(name)) && data[0].spans.some(isRoot) && data[0];
    },
    20_000,
  );
  const { spans, processes } = trace;
  const ids = new Set(spans.map(({ spanID }) => spanID));
  const named = new Set(Object.values(processes).map(({ serviceName }) => serviceName));
  check(named.size === services.length, `the services are ${services.join(', ')}, and not ${[...named].join(', ')}`);
  check(ids.size === spans.length, 'no span arrived twice');
  const roots = spans.filter(isRoot);
  check(roots.length === 1 && roots[0].operationName === 'invoke_workflow conclave', 'the run is the only root');
  const orphans = spans.filter((span) => parentsOf(span).some((id) => !ids.has(id)));
  check(orphans.length === 0, `each span has its parent: ${orphans.map(({ operationName }) => operationName).join(', ')}`);
  const warnings = spans.flatMap((span) => span.warnings ?? []).filter((warning) => /duplicate|parent/i.test(warning));
  check(warnings.length === 0, `Jaeger finds no span twice and no parent missing: ${warnings.join(' ')}`);
  const links = spans.flatMap(({ operationName, references = [] }) =>
    operationName.startsWith('engine step') ? references.filter(({ refType }) => refType === 'FOLLOWS_FROM') : [],
  );
  check(
    links.length > 0 && links.every(({ spanID }) => ids.has(spanID)),
    'the step that dispatches the synthesis is linked to the results that it joins',
  );
  const chats = spans.filter(({ operationName }) => operationName.startsWith('chat '));
  check(chats.length > 0 && chats.every(({ tags }) => tags.some(({ key }) => key === 'gen_ai.request.model')), 'calls name their model');
  check(!JSON.stringify(trace).includes('Northlight'), 'no span contains a word of the question');
  fact(
    `One run of the demo model, embedded: one trace with ${spans.length} spans, one root, ${named.size} services, ${links.length} links at the merger.`,
  );
}

const parentsOf = ({ references = [] }) => references.filter(({ refType }) => refType === 'CHILD_OF').map(({ spanID }) => spanID);
const isRoot = (span) => parentsOf(span).length === 0;
