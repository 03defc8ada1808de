/** Addresses of the bundled workers by name: `layout` is `layout.worker.ts`. Set by the build. */
declare const workerUrls: Readonly<Record<string, string>>;

/** Not in TypeScript's library yet. */
interface TrustedTypePolicyFactory {
  createPolicy(name: string, rules: { readonly createScriptURL?: (url: string) => string }): unknown;
}
declare const trustedTypes: TrustedTypePolicyFactory | undefined;
