import vm from 'node:vm';

const script = new vm.Script('run()');
const context = vm.createContext({ run: null });

/**
 * Runs a function and stops it after `ms` milliseconds, even inside a regular expression, because Node's script timeout covers everything
 * that a script calls. Throws what the function throws, or an error for which `tookTooLong` is true.
 */
export function boundedRun<T>(run: () => T, ms: number): T {
  let result: { readonly value: T } | undefined;
  context.run = () => {
    result = { value: run() };
  };
  try {
    script.runInContext(context, { timeout: ms });
  } finally {
    context.run = null;
  }
  return result!.value;
}

export const tookTooLong = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
