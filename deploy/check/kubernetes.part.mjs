import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { definitions, missingForCluster, ready, withCluster } from './kubernetes-cluster.mjs';

const chart = path.resolve(import.meta.dirname, '../helm/conclave');
/** Read when it runs: the page of results imports this file from elsewhere. */
const examples = () => readdirSync(path.join(chart, 'ci')).map((file) => file.replace('.values.yaml', ''));
const valuesOf = (example) => path.join(chart, 'ci', `${example}.values.yaml`);
const namespace = 'conclave';

export const title = 'the chart on a real API server: strict validation, Pod Security, quota, RBAC, install, upgrade, roll back';
export const unproven = [
  'Containers: the nodes are simulated, so pods become ready without a process. The part `docker` runs the same image and variables.',
  'That a network plugin enforces the NetworkPolicies: `npx jest chart.int` only computes the allowed connections.',
  'KEDA and the Prometheus operator themselves: their objects match the definitions, but nothing acts on them.',
  'An ingress controller: its annotations were only accepted as text.',
];
export const missing = missingForCluster;

const expect = (holds, sentence) => {
  if (!holds) throw new Error(sentence);
};
/** The text of the refusal; throws if it was not refused. */
const refusal = (attempt, what) =>
  attempt().then(
    () => {
      throw new Error(`${what} was not refused.`);
    },
    ({ message }) => message,
  );

export const run = ({ fact }) =>
  withCluster(async (cluster) => {
    const { kubectl, apply } = cluster;
    const server = JSON.parse(await kubectl(['version', '-o', 'json'])).serverVersion.gitVersion;
    await kubectl(['apply', '--server-side', '-f', definitions()]);
    await apply(
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: {
          name: namespace,
          labels: { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/enforce-version': 'latest' },
        },
      },
      {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'quota', namespace },
        spec: { hard: { 'requests.cpu': '16', 'requests.memory': '16Gi', 'limits.memory': '48Gi', pods: '40' } },
      },
    );
    await ready(() => kubectl(['-n', namespace, 'get', 'serviceaccount', 'default']), 60_000);
    await validates(cluster, fact, server);
    await isGuarded(cluster, fact);
    await rollsOut(cluster, fact);
    await keepsAVolume(cluster, fact);
  });

/** Every example against the schemas of the server, without the tolerance that kubectl has by default. */
async function validates({ helm, kubectl, folder }, fact, server) {
  for (const example of examples()) {
    const manifest = path.join(folder, `${example}.yaml`);
    const rendered = await helm([
      'template',
      'demo',
      chart,
      '--namespace',
      namespace,
      '--kube-version',
      server,
      '--values',
      valuesOf(example),
    ]);
    writeFileSync(manifest, rendered);
    const dryRun = ['-n', namespace, 'apply', '--dry-run=server', '--validate=strict', '-f'];
    const objects = (await kubectl([...dryRun, manifest])).trim().split('\n');
    const misspelt = path.join(folder, 'misspelt.yaml');
    writeFileSync(
      misspelt,
      rendered.replace(
        'automountServiceAccountToken: false\n      enableServiceLinks',
        'automountServiceAccountTokn: false\n      enableServiceLinks',
      ),
    );
    const said = await refusal(() => kubectl([...dryRun, misspelt]), 'A misspelt field');
    expect(/unknown field "spec.template.spec.automountServiceAccountTokn"/.test(said), `Refused for another reason: ${said}`);
    fact(
      `ci/${example}: ${objects.length} objects accepted by the API server ${server} with \`--dry-run=server --validate=strict\`; the same with one misspelt field refused.`,
    );
  }
}

/** The namespace refuses what the chart must not do. */
async function isGuarded({ kubectl }, fact) {
  const pod = (spec) => JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'intruder', namespace }, spec });
  const container = { name: 'one', image: 'conclave', resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '1Gi' } } };
  const said = await refusal(() => kubectl(['apply', '-f', '-'], pod({ containers: [container] })), 'A pod that may be root');
  expect(/violates PodSecurity "restricted/.test(said), `Refused for another reason: ${said}`);
  fact(
    'The namespace enforces the Pod Security standard `restricted` and has a quota that asks for requests and limits; a pod that may be root was refused in it.',
  );
}

const deployer = 'deployer';

async function rollsOut({ helm, kubectl, apply, folder, pause }, fact) {
  // The user who installs the chart needs no more than the usual role `admin` of the namespace.
  await apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: deployer, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: deployer }],
  });
  const release = (...args) => helm([...args, '--namespace', namespace, '--kube-as-user', deployer, '--wait', '--timeout', '20m']);
  const pods = async () =>
    JSON.parse(await kubectl(['-n', namespace, 'get', 'pods', '-o', 'json'])).items.filter(({ metadata }) => !metadata.deletionTimestamp);
  const imagesOf = (all) => [...new Set(all.map(({ spec }) => spec.containers[0].image))].join(', ');
  const named = (component) => (all) => all.filter(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === component);

  await release('install', 'demo', chart, '--values', valuesOf('minimal'));
  const first = await pods();
  const expected = { gateway: 2, planner: 2, merger: 2, 'graph-ingest': 1, 'experts-expert': 2, 'experts-evidence': 2 };
  for (const [component, count] of Object.entries(expected)) {
    const own = named(component)(first);
    expect(own.length === count, `${component} has ${own.length} pods instead of ${count}.`);
    const nodes = new Set(own.map(({ spec }) => spec.nodeName));
    expect(nodes.size === count, `${component} runs on ${nodes.size} nodes.`);
  }
  fact(
    `\`helm install --wait\` by a user with no more than the role admin of the namespace: ${first.length} pods ready, those of each deployment on different nodes.`,
  );

  const evict = ({ metadata }) =>
    kubectl(
      ['create', '--raw', `/api/v1/namespaces/${namespace}/pods/${metadata.name}/eviction`, '-f', '-'],
      JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: metadata.name, namespace } }),
    );
  const evicted = async () => {
    const [one, two] = named('merger')(await pods());
    await evict(one);
    return refusal(() => evict(two), 'The eviction of a second merger');
  };
  // Otherwise the first merger would be replaced before the second eviction is requested.
  pause(true);
  const said = await evicted().finally(() => pause(false));
  expect(/disruption budget/.test(said), `Refused for another reason: ${said}`);
  fact('The eviction of one merger is allowed; that of the second is refused by the disruption budget until the first is replaced.');
  await kubectl(['-n', namespace, 'rollout', 'status', 'deployment', '--timeout=120s', '-l', 'app.kubernetes.io/instance=demo']);

  const before = new Set((await pods()).map(({ metadata }) => metadata.name));
  await release(
    'upgrade',
    'demo',
    chart,
    '--values',
    valuesOf('minimal'),
    '--set',
    'image.tag=0.2.0',
    '--set',
    'config.store_prompts=hash',
  );
  const second = await pods();
  expect(imagesOf(second) === 'conclave:0.2.0', `Images after the upgrade: ${imagesOf(second)}`);
  expect(
    second.every(({ metadata }) => !before.has(metadata.name)),
    'A pod outlived the upgrade.',
  );
  await release('rollback', 'demo', '1');
  const third = await pods();
  expect(imagesOf(third) === imagesOf(first), `Images after the roll-back: ${imagesOf(third)}`);
  const yaml = await kubectl(['-n', namespace, 'get', 'configmap', 'demo-conclave', '-o', 'jsonpath={.data.conclave\\.yaml}']);
  expect(!yaml.includes('store_prompts'), 'The roll-back kept the new configuration.');
  fact('`helm upgrade --wait` to another image and configuration replaced every pod; `helm rollback --wait` brought both back.');

  const values = path.join(folder, 'scaled.yaml');
  writeFileSync(values, readFileSync(valuesOf('minimal'), 'utf8'));
  const scaled = [
    '--set',
    'keda.enabled=true',
    '--set',
    'keda.prometheusAddress=http://prometheus.monitoring.svc:9090',
    '--set',
    'serviceMonitor.enabled=true',
  ];
  await helm(['upgrade', 'demo', chart, '--namespace', namespace, '--values', values, ...scaled, '--wait', '--timeout', '20m']);
  const objects = (await kubectl(['-n', namespace, 'get', 'scaledobjects,servicemonitors', '-o', 'name'])).trim().split('\n');
  await kubectl(['-n', namespace, 'scale', 'deployment/demo-conclave-experts-expert', '--replicas=5']);
  await helm([
    'upgrade',
    'demo',
    chart,
    '--namespace',
    namespace,
    '--values',
    values,
    ...scaled,
    '--set',
    'logLevel=warn',
    '--wait',
    '--timeout',
    '20m',
  ]);
  const kept = await kubectl(['-n', namespace, 'get', 'deployment', 'demo-conclave-experts-expert', '-o', 'jsonpath={.spec.replicas}']);
  expect(kept === '5', `An upgrade set the experts back to ${kept} pods.`);
  fact(
    `With KEDA and monitoring, ${objects.length} of their objects were applied (definitions of KEDA 2.21.0 and of the Prometheus operator 0.84.0); an upgrade left the number of pods that had been scaled to 5 alone.`,
  );
  await helm(['uninstall', 'demo', '--namespace', namespace, '--wait']);
  const left = (
    await kubectl([
      '-n',
      namespace,
      'get',
      'deployments,statefulsets,services,networkpolicies,poddisruptionbudgets,scaledobjects',
      '-o',
      'name',
    ])
  ).trim();
  expect(left === '', `Left after \`helm uninstall\`: ${left}`);
  fact('`helm uninstall` left nothing behind.');
}

/** The embedded mode, on an existing volume: a cluster of this kind does not create one. */
async function keepsAVolume({ helm, kubectl, apply }, fact) {
  await apply({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'one' },
    spec: { capacity: { storage: '20Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' }, storageClassName: '' },
  });
  // The cluster has no default class, so the claim binds to the volume without one.
  await helm(['install', 'single', chart, '--namespace', namespace, '--values', valuesOf('embedded'), '--wait', '--timeout', '20m']);
  const claim = await kubectl(['-n', namespace, 'get', 'pvc', 'data-single-conclave-standalone-0', '-o', 'jsonpath={.status.phase}']);
  expect(claim === 'Bound', `The claim is ${claim}.`);
  await helm(['uninstall', 'single', '--namespace', namespace, '--wait']);
  const after = await kubectl(['-n', namespace, 'get', 'pvc', '-o', 'name']);
  expect(after.includes('data-single-conclave-standalone-0'), 'The data was deleted with the release.');
  fact('Embedded: the pod became ready on its volume, and `helm uninstall` left the volume claim, and so the data, in place.');
}
