import type { KubernetesObject } from '../../stack/helm.mjs';
import { ofKind, type Labels, type Workload } from './objects.js';

interface Peer {
  readonly namespaceSelector?: { readonly matchLabels?: Labels };
  readonly podSelector?: { readonly matchLabels?: Labels };
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}
interface Rule {
  readonly ports?: readonly { readonly protocol: string; readonly port: number }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}
interface Policy {
  readonly spec: {
    readonly podSelector: { readonly matchLabels?: Labels };
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

/** The peer of a direction that no policy selects: it is open to everybody. */
export const anybody = 'anybody';

const selects = (labels: Labels, wanted: Labels = {}): boolean => Object.entries(wanted).every(([name, value]) => labels[name] === value);
const list = (labels: Labels | undefined): string =>
  Object.entries(labels ?? {})
    .map(([name, value]) => (name === 'kubernetes.io/metadata.name' ? value : `${name}=${value}`))
    .join(',');

function nameOf({ namespaceSelector, podSelector, ipBlock }: Peer): string {
  if (ipBlock) return ipBlock.cidr === '0.0.0.0/0' ? (ipBlock.except?.length ? 'public' : 'every address') : ipBlock.cidr;
  const namespace = namespaceSelector ? list(namespaceSelector.matchLabels) || 'every namespace' : 'own namespace';
  return podSelector?.matchLabels ? `${namespace}/${list(podSelector.matchLabels)}` : namespace;
}

/** A rule without peers applies to everybody, and one without ports to all ports. */
const reach = (rules: readonly Rule[], side: 'from' | 'to'): readonly string[] =>
  rules.flatMap((rule) => {
    const peers = rule[side] ? rule[side].map(nameOf) : [anybody];
    const ports = rule.ports ? rule.ports.map(({ protocol, port }) => (protocol === 'UDP' ? `${port}/udp` : String(port))) : ['*'];
    return peers.flatMap((peer) => ports.map((port) => `${peer}:${port}`));
  });

/**
 * The peers that reach the pods of a workload, and those that the pods reach. As in Kubernetes, a direction is open if no policy selects the
 * pods for it; otherwise everything is allowed that any of the policies allows. Entries are `peer:port`, sorted.
 */
export function reachability(objects: readonly KubernetesObject[], { labels }: Workload) {
  const selecting = ofKind<Policy>(objects, 'NetworkPolicy')
    .map(({ spec }) => spec)
    .filter(({ podSelector }) => selects(labels, podSelector.matchLabels));
  const of = (type: 'Ingress' | 'Egress', found: (spec: Policy['spec']) => readonly string[]): readonly string[] => {
    const policies = selecting.filter(({ policyTypes }) => policyTypes.includes(type));
    return policies.length === 0 ? [`${anybody}:*`] : [...new Set(policies.flatMap(found))].sort();
  };
  return {
    from: of('Ingress', ({ ingress = [] }) => reach(ingress, 'from')),
    to: of('Egress', ({ egress = [] }) => reach(egress, 'to')),
  };
}
