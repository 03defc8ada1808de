import type { KubernetesObject } from '../../stack/helm.mjs';

/** The parts of the chart's objects that the specs read. */
export interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
export interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: readonly Variable[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly requests: Record<string, string>; readonly limits: Record<string, string> };
  readonly securityContext: {
    readonly allowPrivilegeEscalation: boolean;
    readonly readOnlyRootFilesystem: boolean;
    readonly capabilities: { readonly drop: readonly string[]; readonly add?: readonly string[] };
    readonly privileged?: boolean;
  };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}
export interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly securityContext: {
    readonly runAsNonRoot: boolean;
    readonly runAsUser: number;
    readonly seccompProfile: { readonly type: string };
  };
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes: readonly Readonly<Record<string, unknown>>[];
}
export interface Workload {
  readonly name: string;
  readonly component: string;
  readonly replicas: number | undefined;
  readonly labels: Labels;
  readonly pod: PodSpec;
}
export type Labels = Readonly<Record<string, string>>;

type Loose = KubernetesObject & { readonly spec?: never; readonly data?: never };
export const ofKind = <T = Loose>(objects: readonly KubernetesObject[], ...kinds: readonly string[]): readonly (KubernetesObject & T)[] =>
  objects.filter(({ kind }) => kinds.includes(kind)) as (KubernetesObject & T)[];

interface WorkloadObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
  };
}

/** Deployments and StatefulSets. */
export const workloads = (objects: readonly KubernetesObject[]): readonly Workload[] =>
  ofKind<WorkloadObject>(objects, 'Deployment', 'StatefulSet').map(({ metadata, spec }) => ({
    name: metadata.name,
    component: spec.template.metadata.labels['app.kubernetes.io/component']!,
    replicas: spec.replicas,
    labels: spec.template.metadata.labels,
    pod: spec.template.spec,
  }));

/** The file conclave.yaml of a release, as text. */
export const configurationOf = (objects: readonly KubernetesObject[]): string =>
  ofKind<{ readonly data: Readonly<Record<string, string>> }>(objects, 'ConfigMap')[0]!.data['conclave.yaml']!;

/** Every Secret that a pod refers to, with the key. */
export const secretsOf = (pod: PodSpec): readonly string[] => {
  const found: string[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (value === null || typeof value !== 'object') return;
    const { secretKeyRef, secret } = value as Record<
      string,
      { name: string; key?: string; items?: readonly { key: string }[] } | undefined
    >;
    if (secretKeyRef) found.push(`${secretKeyRef.name}/${secretKeyRef.key}`);
    if (secret) found.push(...(secret.items ?? []).map(({ key }) => `${secret.name}/${key}`));
    Object.values(value).forEach(walk);
  };
  walk(pod);
  return [...new Set(found)].sort();
};
