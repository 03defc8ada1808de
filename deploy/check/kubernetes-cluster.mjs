import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../stack/index.mjs';
import { nodes, playNodes } from './kubernetes-nodes.mjs';
import { findOnPath, run, startProcess, stopProcess } from '../stack/processes.mjs';

const built = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'helm'];
const installed = ['etcd', 'kubectl', 'openssl'];
const folderOfPrograms = () => process.env.CONCLAVE_KUBERNETES_PROGRAMS ?? '';

/** Null if a cluster can be started here, otherwise a sentence that says what is missing. */
export function missingForCluster() {
  const absent = built.filter((name) => !existsSync(path.join(folderOfPrograms(), name)));
  if (absent.length > 0)
    return `${absent.join(', ')} are not in CONCLAVE_KUBERNETES_PROGRAMS; \`sh deploy/check/kubernetes-programs.sh <folder>\` builds them in about 20 minutes`;
  const others = installed.filter((name) => findOnPath(name) === null);
  return others.length > 0 ? `it needs ${others.join(', ')}` : null;
}

/** Definitions of KEDA and of the Prometheus operator. */
export const definitions = () => path.join(folderOfPrograms(), 'definitions');

/**
 * A real API server with its controllers and scheduler on the loopback, and three simulated nodes, on which pods become ready without a
 * container. `work` receives `{ kubectl, helm, apply, folder, pause }`.
 */
export async function withCluster(work) {
  const folder = mkdtempSync(path.join(tmpdir(), 'conclave-kubernetes-'));
  const at = (...names) => path.join(folder, ...names);
  const [client, peer, api, manager, scheduler] = await freePorts(5);
  const token = randomBytes(24).toString('hex');
  const started = [];
  let played = null;
  const start = async (file, args) => started.push(await startProcess({ file, args }, at(`${path.basename(file)}.log`), 'ours'));
  const program = (name) => path.join(folderOfPrograms(), name);
  const kubeconfig = at('kubeconfig');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'check', cluster: { server: `https://127.0.0.1:${api}`, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'admin', user: { token } }],
      contexts: [{ name: 'check', context: { cluster: 'check', user: 'admin' } }],
      'current-context': 'check',
    }),
    { mode: 0o600 },
  );
  /** Repeated after a time-out on a busy machine; every command here may be repeated. */
  const kubectl = async (args, input) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await run('kubectl', ['--kubeconfig', kubeconfig, ...args], { input, withinMs: 900_000 });
      } catch (error) {
        if (tries === 5 || !/Client\.Timeout|TLS handshake timeout|request timed out|etcdserver/.test(error.message)) throw error;
      }
    }
  };
  const helm = (args) => run(program('helm'), ['--kubeconfig', kubeconfig, ...args], { withinMs: 1_800_000 });
  const apply = (...objects) =>
    kubectl(['apply', '--validate=false', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  try {
    const url = `http://127.0.0.1:${client}`;
    const peers = `http://127.0.0.1:${peer}`;
    mkdirSync(at('etcd'), { mode: 0o700 });
    await start('etcd', [
      ...['--data-dir', at('etcd'), '--listen-client-urls', url, '--advertise-client-urls', url, '--listen-peer-urls', peers],
      ...['--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`, '--unsafe-no-fsync'],
    ]);
    await run('openssl', ['genrsa', '-out', at('accounts.key'), '2048']);
    writeFileSync(at('tokens.csv'), `${token},admin,admin,system:masters\n`, { mode: 0o600 });
    await start(program('kube-apiserver'), [
      ...[`--etcd-servers=${url}`, '--bind-address=127.0.0.1', `--secure-port=${api}`, `--cert-dir=${at('certificates')}`],
      ...['--service-cluster-ip-range=10.96.0.0/16', `--token-auth-file=${at('tokens.csv')}`, '--authorization-mode=RBAC'],
      ...[`--service-account-key-file=${at('accounts.key')}`, `--service-account-signing-key-file=${at('accounts.key')}`],
      '--service-account-issuer=https://kubernetes.default.svc',
    ]);
    await ready(() => kubectl(['get', '--raw', '/readyz']), 600_000);
    await start(program('kube-controller-manager'), [
      ...[`--kubeconfig=${kubeconfig}`, `--secure-port=${manager}`, '--bind-address=127.0.0.1', '--leader-elect=false'],
      ...[`--service-account-private-key-file=${at('accounts.key')}`, '--use-service-account-credentials=false'],
      // Nobody renews the leases of simulated nodes.
      '--controllers=*,-node-lifecycle-controller',
    ]);
    await start(program('kube-scheduler'), [
      ...[`--kubeconfig=${kubeconfig}`, `--secure-port=${scheduler}`, '--bind-address=127.0.0.1', '--leader-elect=false'],
    ]);
    await apply(...nodes());
    // The controller that removes this taint when a node becomes ready is switched off above.
    await kubectl(['taint', 'nodes', '--all', 'node.kubernetes.io/not-ready:NoSchedule-']);
    played = playNodes({ port: api, token, caFile: at('certificates', 'apiserver.crt') });
    return await work({ kubectl, helm, apply, folder, pause: played.pause });
  } finally {
    await played?.end();
    for (const one of started.reverse()) await stopProcess(one, 10_000);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Tries again until it does not throw. */
export async function ready(attempt, withinMs) {
  const end = Date.now() + withinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await delay(500);
    }
  }
}
