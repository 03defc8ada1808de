import { createContext, Script } from 'node:vm';
import { EndlessCall, type ExtensionCall, type ExtensionCalls } from '@conclave/strategies';

const isTimeout = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
const warning = (sentence: string): void => process.emitWarning(sentence, 'ExtensionWarning');

/**
 * Calls functions of extensions so that one that keeps the thread busy for `limitMs` is stopped, throws EndlessCall and is reported as a
 * warning. Only V8 can stop JavaScript in its own thread, and Node.js offers that for scripts with a time limit: the script calls the
 * function. What an `async` function does after its first `await` is not covered. Costs about 0.2 ms a call, for the thread that waits.
 */
export function interrupting(limitMs: number, warn: (sentence: string) => void = warning): ExtensionCalls['call'] {
  const context = createContext({ call: (): void => undefined }) as { call: () => void };
  const script = new Script('call()');
  let isBounded = false;
  return <T>(what: ExtensionCall, call: () => T): T => {
    // A call within a call ends with the outer one.
    if (isBounded) return call();
    let result: { readonly value: T } | undefined;
    isBounded = true;
    context.call = () => {
      result = { value: call() };
    };
    try {
      script.runInContext(context, { timeout: limitMs, displayErrors: false });
    } catch (error) {
      if (!isTimeout(error)) throw error;
      warn(
        `A function of an extension did not return within ${limitMs / 1_000} s and was stopped: ${what.name} (${what.module ?? 'no module'}). What called it fails; the process was busy until now. Bound its loops.`,
      );
      throw new EndlessCall();
    } finally {
      isBounded = false;
      context.call = () => undefined;
    }
    return result!.value;
  };
}
