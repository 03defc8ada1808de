/** A function of an extension: what it is called, and the file of its module, null outside one. */
export interface ExtensionCall {
  readonly name: string;
  readonly module: string | null;
}

/** How functions of extensions are called. */
export interface ExtensionCalls {
  /** Calls a function. May end one that does not return in time, and throws EndlessCall then. */
  call<T>(what: ExtensionCall, call: () => T): T;
  /** Awaits what a function does after it has returned a promise; its first part is called by `call`. */
  wait<T>(what: ExtensionCall, work: () => Promise<T>): Promise<T>;
}

/** A function of an extension did not return in time and was stopped. The sentence has no figures: a replay compares it. */
export class EndlessCall extends Error {
  override readonly name = 'EndlessCall';
  constructor() {
    super('It did not return in time and was stopped (`extension_timeout_s`). Bound its loops.');
  }
}

let calls: ExtensionCalls = { call: (_what, call) => call(), wait: (_what, work) => work() };
let module: string | null = null;

/** Sets how functions of extensions are called from now on. Without it they are called as they are: ending one needs more than JavaScript. */
export const callExtensionsBy = (by: ExtensionCalls): void => void (calls = by);

/** Everything that is described until the next call comes from this file. */
export const describedIn = (file: string | null): void => void (module = file);

/** Calls functions of the module that is being loaded; `file` is its name without folders, null outside a module. */
export function callsOfModule(): {
  readonly file: string | null;
  call<T>(name: string, call: () => T): T;
  wait<T>(name: string, work: () => Promise<T>): Promise<T>;
} {
  const file = module;
  return {
    file: file?.split(/[\\/]/).at(-1) ?? null,
    call: (name, call) => calls.call({ name, module: file }, call),
    wait: (name, work) => calls.wait({ name, module: file }, work),
  };
}
