import vm from 'node:vm';

const script = new vm.Script('run()');
const context = vm.createContext({ run: null });
/** How often a function is begun at most: a machine so busy that it never gets a processor ends it, too. */
const mostAttempts = 5;

/**
 * Runs a function and stops it after `ms` milliseconds, even inside a regular expression, because Node's script timeout covers everything
 * that a script calls. The timeout passes on a busy machine, too: a function that had no processor meanwhile is begun again, so it must
 * have no effects. Throws what the function throws, or an error for which `tookTooLong` is true.
 */
export function boundedRun<T>(run: () => T, ms: number): T {
  const before = process.cpuUsage();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return attempted(run, ms);
    } catch (error) {
      const { user, system } = process.cpuUsage(before);
      // Of the whole process, so an upper bound.
      if (!tookTooLong(error) || attempt >= mostAttempts || (user + system) / 1_000 >= ms / 2) throw error;
    }
  }
}

function attempted<T>(run: () => T, ms: number): T {
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
