/** A Python environment of one purpose. */
export interface PythonEnvironment {
  readonly name: string;
  missing(): { readonly reason: string; readonly packages: readonly string[] } | null;
  install(): Promise<string>;
}
