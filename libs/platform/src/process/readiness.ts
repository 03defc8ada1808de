import pTimeout from 'p-timeout';

/** Null if healthy, otherwise a sentence that says what is wrong. */
export type HealthCheck = () => string | null | Promise<string | null>;

export interface ReadinessChecks {
  /** Adds a named check; a check that throws counts as not ready. */
  add(name: string, check: HealthCheck): void;
  /** Current problems, each as `name: sentence`; empty if ready. */
  problems(): Promise<readonly string[]>;
  /** Not ready from now on, regardless of the checks: the process is stopping. */
  stopping(): void;
}

/** A check that does not answer within this many milliseconds counts as not ready. */
const patienceMs = 2_000;

export function openReadiness(): ReadinessChecks {
  const checks = new Map<string, HealthCheck>();
  let isStopping = false;
  return {
    add: (name, check) => void checks.set(name, check),
    stopping: () => {
      isStopping = true;
    },
    problems: async () => {
      const found = await Promise.all([...checks].map(async ([name, check]) => ({ name, sentence: await ask(check) })));
      const problems = found.filter(({ sentence }) => sentence !== null).map(({ name, sentence }) => `${name}: ${sentence}`);
      return isStopping ? ['process: is shutting down.', ...problems] : problems;
    },
  };
}

async function ask(check: HealthCheck): Promise<string | null> {
  try {
    return await pTimeout(Promise.resolve(check()), {
      milliseconds: patienceMs,
      fallback: () => `did not answer within ${patienceMs / 1000} s.`,
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
