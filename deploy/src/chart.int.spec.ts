// The chart, rendered by Helm's own engine. `npm run check:deploy -- kubernetes` shows what a cluster accepts.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { defaultTimeouts, Environment, taskTopic } from '@conclave/contracts';
import { loadConfiguration, metricList, taskGroup, type Loaded } from '@conclave/platform';
import { renderChart, type KubernetesObject, type Rendered } from '../stack/helm.mjs';
import { configurationOf, ofKind, secretsOf, workloads, type Container, type PodSpec, type Workload } from './__fixtures__/objects.js';
import { anybody, reachability } from './__fixtures__/reachability.js';

jest.setTimeout(420_000);

const root = path.resolve(import.meta.dirname, '../..');
const chart = path.join(root, 'deploy/helm/conclave');
const read = (file: string): string => readFileSync(path.join(chart, file), 'utf8');
const examples = readdirSync(path.join(chart, 'ci')).map((file) => file.replace('.values.yaml', ''));

/** Values that are refused, with the message. */
const refused: Readonly<Record<string, readonly [values: string, sentence: string | RegExp]>> = {
  'no Kafka': ['', 'needs config.stores.kafka.brokers; for one pod without Kafka set mode: embedded'],
  'no Redis': ['config: { stores: { kafka: { brokers: [k:9092] } } }', 'needs config.stores.redis.url'],
  'no admin key': ['config: { stores: { kafka: { brokers: [k:9092] }, redis: { url: redis://r } } }', 'needs adminKey.existingSecret'],
  'a task class that nobody serves': [`${read('ci/minimal.values.yaml')}\nexperts: []`, 'serves the task class expert'],
  'a misspelt value': ['gatway: { replicas: 3 }', /gatway.*not allowed/],
  'a password among the plain variables': ['mode: embedded\nenv: { MY_PASSWORD: hunter2 }', /invalid propertyName 'MY_PASSWORD'/],
  'a secret as text': ['mode: embedded\nsecretEnv: { CRM_TOKEN: hunter2 }', /secretEnv.CRM_TOKEN.*want object/],
  'a key for a provider that does not exist': [
    'mode: embedded\nproviderKeys: { openai: { existingSecret: a, key: b } }',
    'no config.providers.openai',
  ],
  'several pods of graph-ingest': [`${read('ci/minimal.values.yaml')}\ngraphIngest: { replicas: 2 }`, 'graphIngest.replicas is above 1'],
};

const sentinel = `sentinel: { master: conclave, addresses: ['sentinel-0.watch.svc:26379', 'sentinel-1.watch.svc:26379'] }`;

let byName: Readonly<Record<string, Rendered>>;
const of = (name: string): readonly KubernetesObject[] => byName[name]!.objects!;
const folder = mkdtempSync(path.join(tmpdir(), 'conclave-chart-'));

beforeAll(async () => {
  const named = [
    ...examples.map((name) => [name, read(`ci/${name}.values.yaml`)] as const),
    ...Object.entries(refused).map(([name, [values]]) => [name, values] as const),
    ['sentinel', read('ci/minimal.values.yaml').replace(/redis: \{ (.*) \}/, `redis: { $1, ${sentinel} }`)] as const,
    ['open', `${read('ci/minimal.values.yaml')}\nnetworkPolicy: { enabled: false }`] as const,
  ];
  const rendered = await renderChart(named.map(([, values]) => ({ name: 'demo', namespace: 'conclave', values })));
  byName = Object.fromEntries(named.map(([name], n) => [name, rendered[n]!]));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const programOf = ({ command }: Container): string => command[1]!.replace(/^dist\/|\.js$/g, '');

/** The configuration as the pod loads it: its variables, with a value for every secret, and its files, in a folder instead of /etc/conclave. */
function loadedIn(objects: readonly KubernetesObject[], { name, pod }: Workload): Loaded {
  const [container] = pod.containers;
  const home = path.join(folder, name);
  const inFolder = (text: string): string => text.replaceAll('/etc/conclave', home).replaceAll('/data', home);
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'conclave.yaml'), inFolder(configurationOf(objects)));
  for (const { name: volume, projected } of pod.volumes as readonly {
    name: string;
    projected?: { sources: { secret: { items: { path: string }[] } }[] };
  }[]) {
    const at = container!.volumeMounts.find((mount) => mount.name === volume)?.mountPath;
    for (const { secret } of projected?.sources ?? [])
      for (const { path: file } of secret.items) {
        mkdirSync(inFolder(at!), { recursive: true });
        writeFileSync(path.join(inFolder(at!), file), 'c2VjcmV0IG9mIHRoZSB0ZXN0cywgMzIgYnl0ZXM=');
      }
  }
  // The secret of a webhook must have a special form.
  const variables = container!.env.map(({ name, value }): [string, string] => [
    name,
    inFolder(value ?? `whsec_${Buffer.alloc(32, name).toString('base64')}`),
  ]);
  return loadConfiguration(Object.fromEntries(variables), home, { sharesStores: programOf(container!) !== 'standalone' });
}

describe.each(examples)('the chart with the values of ci/%s', (example) => {
  it('passes the checks of Helm and of the schemas of Kubernetes', () => {
    const { error, lint, invalid } = byName[example]!;
    expect({ error, lint, invalid }).toEqual({ error: undefined, lint: [], invalid: [] });
  });

  it('starts existing programs, which accept the whole configuration', () => {
    const all = workloads(of(example));
    expect(all.length).toBeGreaterThan(0);
    for (const one of all) {
      const [container, ...others] = one.pod.containers;
      expect(others).toEqual([]);
      expect(container!.command[0]).toBe('node');
      expect(existsSync(path.join(root, 'apps', programOf(container!), 'src/main.ts'))).toBe(true);
      expect(loadedIn(of(example), one).environment.LOG_LEVEL).toBe('info');
    }
  });

  it('sets only variables that the programs or its conclave.yaml read, and reads every secret by reference', () => {
    const named = [...configurationOf(of(example)).matchAll(/(?:_env: |headers_env:\s+\w+: )(\w+)/g)].map(([, name]) => name);
    const known = new Set([...Object.keys(Environment.shape), ...named]);
    for (const { pod } of workloads(of(example)))
      for (const { name, value, valueFrom } of pod.containers[0]!.env) {
        expect([name, known.has(name)]).toEqual([name, true]);
        const isSecret = named.includes(name) || /(KEY|PASSWORD|SECRET|TOKEN)$/.test(name);
        expect([name, isSecret ? valueFrom?.secretKeyRef : value]).toEqual([name, isSecret ? expect.any(Object) : expect.any(String)]);
      }
    expect(ofKind(of(example), 'Secret')).toEqual([]);
  });

  it('listens, probes and publishes on the ports that the programs open', () => {
    const pods = workloads(of(example));
    for (const { pod } of pods) {
      const [{ env, ports, startupProbe, livenessProbe, readinessProbe } = {} as Container] = pod.containers;
      const variable = (name: string): string | undefined => env.find((one) => one.name === name)?.value;
      const opened = { http: variable('PORT'), metrics: variable('ADMIN_PORT') };
      expect(Object.fromEntries(ports.map(({ name, containerPort }) => [name, String(containerPort)]))).toEqual(
        JSON.parse(JSON.stringify(opened)),
      );
      expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)).toEqual([
        { path: '/health/live', port: 'metrics' },
        { path: '/health/live', port: 'metrics' },
        { path: '/health/ready', port: 'metrics' },
      ]);
      expect(variable('ADMIN_HOST')).toBe('0.0.0.0');
    }
    const services = ofKind<{ spec: { selector: Record<string, string>; ports: { targetPort: string }[] } }>(of(example), 'Service');
    for (const { spec } of services) {
      const behind = pods.filter(({ labels }) => Object.entries(spec.selector).every(([name, value]) => labels[name] === value));
      expect(behind.length).toBeGreaterThan(0);
      for (const { targetPort } of spec.ports)
        for (const { pod } of behind) expect(pod.containers[0]!.ports.map(({ name }) => name)).toContain(targetPort);
    }
  });

  it('runs nothing that the Pod Security standard `restricted` refuses, on a read-only root, without a token', () => {
    for (const { pod } of workloads(of(example))) expect(unrestricted(pod)).toEqual([]);
  });

  it('allows a pod more time to end than its tasks may take, and requests memory within its limit', () => {
    for (const { name, pod } of workloads(of(example))) {
      const [{ env, resources } = {} as Container] = pod.containers;
      const given = Number(env.find((one) => one.name === 'SHUTDOWN_GRACE_S')?.value ?? 0);
      const { configuration } = loadedIn(of(example), { name, pod } as Workload);
      const longest = Math.max(
        defaultTimeouts.task_timeout_s,
        ...Object.values(configuration.templates).map(({ task_timeout_s: seconds }) => seconds ?? 0),
      );
      if (example !== 'embedded') expect(given).toBeGreaterThan(longest);
      // 15 s for closing the stores, 5 s before the signal.
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(given + 20);
      expect(Object.keys(resources.requests)).toEqual(['cpu', 'memory']);
      expect(resources.limits['memory']).toMatch(/^\d+(Mi|Gi)$/);
    }
  });

  it('has a disruption budget and spreads over nodes, in distributed mode', () => {
    const budgets = ofKind<{ spec: { selector: { matchLabels: Record<string, string> } } }>(of(example), 'PodDisruptionBudget');
    const protectedOnes = budgets.map(({ spec }) => spec.selector.matchLabels['app.kubernetes.io/component']).sort();
    const all = workloads(of(example)).map(({ component }) => component);
    expect(protectedOnes).toEqual(example === 'embedded' ? [] : [...all].sort());
  });
});

/** Properties of a pod that `restricted` refuses, or that break the further requirements of the product. */
function unrestricted(pod: PodSpec): readonly string[] {
  const { securityContext: context } = pod;
  const harmless = ['name', 'configMap', 'emptyDir', 'projected', 'persistentVolumeClaim'];
  return [
    ...(pod.hostNetwork || pod.hostPID || pod.hostIPC ? ['shares something with its node'] : []),
    ...(context.runAsNonRoot && context.runAsUser > 0 ? [] : ['may be root']),
    ...(context.seccompProfile.type === 'RuntimeDefault' ? [] : ['no seccomp profile']),
    ...(pod.automountServiceAccountToken ? ['has a token'] : []),
    ...pod.volumes.flatMap((volume) => Object.keys(volume).filter((kind) => !harmless.includes(kind))),
    ...[...pod.containers, ...(pod.initContainers ?? [])].flatMap(({ securityContext: own }) => [
      ...(own.allowPrivilegeEscalation || own.privileged ? ['may get more rights'] : []),
      ...(own.readOnlyRootFilesystem ? [] : ['may write its root']),
      ...(own.capabilities.drop.includes('ALL') && !own.capabilities.add ? [] : ['has capabilities']),
    ]),
  ];
}

describe('values that cannot work', () => {
  it.each(Object.keys(refused))('are refused with a sentence: %s', (name) => {
    expect(byName[name]!.error).toMatch(refused[name]![1]);
  });
});

describe('the deployments of ci/full', () => {
  it('are one for each service and each group of task classes, and every class has workers', () => {
    const classes = Object.fromEntries(
      workloads(of('full')).map(({ component, pod }) => [
        component,
        pod.containers[0]!.env.find(({ name }) => name === 'WORKER_CLASSES')?.value,
      ]),
    );
    expect(classes).toEqual({
      gateway: undefined,
      planner: undefined,
      merger: undefined,
      'graph-ingest': undefined,
      'experts-expert': 'expert',
      'experts-evidence': 'evidence',
      'experts-math': 'math',
    });
  });

  it('name the Secrets of the values, and each program gets only those that it needs', () => {
    const secrets = Object.fromEntries(workloads(of('full')).map(({ component, pod }) => [component, secretsOf(pod)]));
    const shared = [
      'conclave-chroma/token',
      ...['ca.crt', 'tls.crt', 'tls.key'].map((key) => `conclave-kafka-tls/${key}`),
      ...['conclave-kafka/password', 'conclave-kafka/user'],
      ...[
        'conclave-providers/openrouter',
        'conclave-providers/vllm',
        'conclave-redis-tls/ca.crt',
        'conclave-redis/password',
        'conclave-redis/user',
      ],
      ...['conclave-s3/access-key', 'conclave-s3/secret-key', 'conclave-seal/seal.key'],
    ];
    const graph = ['conclave-neo4j/password', 'conclave-neo4j/user'];
    expect(secrets['planner']).toEqual([...shared, ...graph].sort());
    expect(secrets['graph-ingest']).toEqual(secrets['planner']);
    expect(secrets['gateway']).toEqual([...shared, ...graph, 'conclave-admin/admin.key', 'conclave-clients/chat'].sort());
    expect(secrets['merger']).toEqual([...shared, 'conclave-permit/permit.key', 'conclave-webhooks/secret'].sort());
    expect(secrets['experts-math']).toEqual([...shared, ...graph, 'conclave-permit/permit.key', 'conclave-crm/token'].sort());
  });

  it('of scaled workers leave the number of pods to KEDA, which uses existing metrics, topics and groups', () => {
    const scaled = ofKind<{
      spec: { scaleTargetRef: { name: string }; triggers: { type: string; metadata: Record<string, string> }[] };
    }>(of('full'), 'ScaledObject');
    const workers = workloads(of('full')).filter(({ component }) => /^(experts-|merger)/.test(component));
    expect(scaled.map(({ spec }) => spec.scaleTargetRef.name).sort()).toEqual(workers.map(({ name }) => name).sort());
    expect(workers.map(({ replicas }) => replicas)).toEqual(workers.map(() => undefined));
    const seen = new Set<string>();
    for (const { spec } of scaled)
      for (const { type, metadata } of spec.triggers) {
        if (type === 'kafka') {
          const taskClass = metadata['topic']!.replace(`prod.${taskTopic('')}`, '');
          seen.add(taskClass);
          expect(metadata).toMatchObject({ consumerGroup: `prod.${taskGroup(taskClass)}`, topic: `prod.${taskTopic(taskClass)}` });
          expect(metadata).toMatchObject({ excludePersistentLag: 'false', sasl: 'scram_sha512', tls: 'enable' });
        } else {
          const [, metric = ''] = /conclave_(\w+)\{namespace="conclave",class="[a-z]+"\}/.exec(metadata['query']!) ?? [];
          expect(Object.keys(metricList)).toContain(metric);
          expect(metricList[metric as keyof typeof metricList].labels).toContain('class');
          expect(Number(metadata['threshold'])).toBeGreaterThan(0);
        }
      }
    expect([...seen].sort()).toEqual(['evidence', 'expert', 'judge', 'math']);
    expect(ofKind(of('full'), 'HorizontalPodAutoscaler')).toEqual([]);
  });
});

describe('the ingress', () => {
  it.each(['full', 'embedded'])('of ci/%s neither buffers a stream nor cuts it early', (example) => {
    const [{ metadata } = {} as { metadata: { annotations: Record<string, string> } }] = ofKind<{
      metadata: { name: string; annotations: Record<string, string> };
    }>(of(example), 'Ingress');
    const said = Object.fromEntries(Object.entries(metadata.annotations).map(([name, value]) => [name.replace(/.*\//, ''), value]));
    expect(said).toMatchObject({ 'proxy-buffering': 'off', 'proxy-request-buffering': 'off', 'proxy-http-version': '1.1' });
    // The longest chat template ends after 270 s; /events lasts as long as a run.
    expect(Number(said['proxy-read-timeout'])).toBeGreaterThanOrEqual(3_600);
  });
});

describe('what the network policies allow', () => {
  /** Targets of ci/full by their name in the table of the README. */
  const targets: Readonly<Record<string, readonly string[]>> = {
    DNS: ['kube-system:53', 'kube-system:53/udp'],
    Kafka: ['stores:9093'],
    Redis: ['stores:6379'],
    Neo4j: ['stores:7687'],
    Chroma: ['stores:8000'],
    blobs: ['stores:9000'],
    models: ['models:8000', 'public:3128', 'public:443'],
    SearXNG: ['search:8080'],
    'MCP servers': ['10.20.30.40/32:8443'],
    webhooks: ['public:8443'],
    web: ['public:443', 'public:80'],
  };

  it('is exactly what the table of the README says', () => {
    const [head = '', , ...rows] = /\| from \\ to \|[^]*?(?=\n\n)/.exec(read('README.md'))![0].split('\n');
    const cells = (line: string): readonly string[] =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
    const [, ...columns] = cells(head);
    expect(columns).toEqual(Object.keys(targets));
    const expected = Object.fromEntries(
      rows.map((row) => {
        const [name = '', ...marks] = cells(row);
        return [name.replaceAll('`', ''), [...new Set(columns.flatMap((column, n) => (marks[n] ? targets[column]! : [])))].sort()];
      }),
    );
    const found = workloads(of('full')).map(
      (one) => [one.component.replace(/^experts-.*/, 'experts'), reachability(of('full'), one).to] as const,
    );
    for (const [component, to] of found) expect([component, to]).toEqual([component, expected[component]]);
    expect(new Set(found.map(([component]) => component))).toEqual(new Set(Object.keys(expected)));
  });

  it('are the servers and the sentinels if Redis Sentinel names the primary', () => {
    expect(of('sentinel').length).toBe(of('minimal').length);
    for (const one of workloads(of('sentinel'))) {
      const without = workloads(of('minimal')).find(({ name }) => name === one.name)!;
      const { to } = reachability(of('sentinel'), one);
      expect(to).toEqual([...reachability(of('minimal'), without).to, 'watch:26379'].sort());
      expect(loadedIn(of('sentinel'), one).configuration.stores.redis?.sentinel).toMatchObject({ master: 'conclave' });
    }
  });

  it('reaches the gateway from the ingress controller, and everything else only from the monitoring', () => {
    for (const one of workloads(of('full')))
      expect([one.component, reachability(of('full'), one).from]).toEqual([
        one.component,
        [...(one.component === 'gateway' ? ['ingress-nginx:8080'] : []), 'monitoring:9464'],
      ]);
  });

  it('has no target that is not configured', () => {
    for (const one of workloads(of('minimal')))
      expect([one.component, reachability(of('minimal'), one).to]).toEqual([
        one.component,
        ['kube-system:53', 'kube-system:53/udp', 'stores:6379', 'stores:9092'],
      ]);
    expect(reachability(of('embedded'), workloads(of('embedded'))[0]!).to).toEqual([
      'kube-system:53',
      'kube-system:53/udp',
      'models:11434',
    ]);
  });

  it('includes everything if the policies are switched off, or if a pod has none', () => {
    const [one] = workloads(of('open'));
    expect(reachability(of('open'), one!)).toEqual({ from: [`${anybody}:*`], to: [`${anybody}:*`] });
    const stranger = { ...one!, labels: { app: 'another' } };
    expect(reachability(of('minimal'), stranger)).toEqual({ from: [`${anybody}:*`], to: [`${anybody}:*`] });
    // The policy that denies everything closes a pod for which no other policy exists.
    const unnamed = { ...one!, labels: { ...one!.labels, 'app.kubernetes.io/component': 'new' } };
    expect(reachability(of('minimal'), unnamed)).toEqual({ from: [], to: [] });
  });
});
