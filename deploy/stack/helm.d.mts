import type { PythonEnvironment } from './python-environment.mjs';

export interface Release {
  readonly name: string;
  readonly namespace: string;
  /** Text of a values file. */
  readonly values: string;
}
export type KubernetesObject = { readonly apiVersion: string; readonly kind: string; readonly metadata: { readonly name: string } };
/** `error` is the sentence of a refused release; the others are empty then. */
export interface Rendered {
  readonly error?: string;
  readonly objects?: readonly KubernetesObject[];
  readonly notes?: string;
  /** What the schemas of Kubernetes refuse, in sentences. */
  readonly invalid?: readonly string[];
  /** Warnings and errors of `helm lint --strict`. */
  readonly lint?: readonly string[];
}
export const helm: PythonEnvironment;
export function renderChart(releases: readonly Release[], kubernetes?: readonly string[]): Promise<readonly Rendered[]>;
