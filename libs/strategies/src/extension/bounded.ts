/** A function of an extension: what it is called, and the file of its module, null outside one. */
export interface ExtensionCall {
  readonly name: string;
  readonly module: string | null;
}

/** Calls a function of an extension. May end one that does not return in time, and throws EndlessCall then. */
export type CallBound = <T>(what: ExtensionCall, call: () => T) => T;

/** A function of an extension did not return in time and was stopped. The sentence has no figures: a replay compares it. */
export class EndlessCall extends Error {
  override readonly name = 'EndlessCall';
  constructor() {
    super('It did not return in time and was stopped (`extension_timeout_s`). Bound its loops.');
  }
}

let bound: CallBound = (_what, call) => call();
let module: string | null = null;

/** Sets how functions of extensions are called from now on. Without it they are called as they are: stopping one needs more than JavaScript. */
export const boundExtensionCalls = (by: CallBound): void => void (bound = by);

/** Everything that is described until the next call comes from this file. */
export const describedIn = (file: string | null): void => void (module = file);

/** Calls functions of the module that is being loaded. */
export function callsOfModule(): <T>(name: string, call: () => T) => T {
  const file = module;
  return (name, call) => bound({ name, module: file }, call);
}
