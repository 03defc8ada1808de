import module from 'node:module';
import { setFlagsFromString } from 'node:v8';

/** Milliseconds after which the program is no longer starting, even if it waits for its stores. A start takes less than one second. */
const longestStartMs = 2_000;

/**
 * Runs `start`, which imports the program, at a low cost. If Node can cache compiled modules (from 22.1), they are compiled once for all
 * starts. Node 20 cannot; there V8 optimises no function while the program starts. It would spend a sixth of the processor time of the
 * start on functions that are hardly called afterwards: constructors of schemas, decorators, the resolution of imports.
 */
export async function quickStart(start: () => Promise<void>): Promise<void> {
  const { enableCompileCache } = module as { enableCompileCache?: () => unknown };
  if (enableCompileCache) {
    enableCompileCache();
    return start();
  }
  setFlagsFromString('--no-opt');
  const optimise = (): void => setFlagsFromString('--opt');
  const timer = setTimeout(optimise, longestStartMs).unref();
  try {
    await start();
  } finally {
    clearTimeout(timer);
    optimise();
  }
}
