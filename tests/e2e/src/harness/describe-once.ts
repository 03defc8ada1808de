import { describe } from '@jest/globals';
import { engineKind } from '@conclave/test-support/system';

/**
 * `describe` for what ends above or beside the engine, such as the checks of a request, the words of a prompt or the arguments of a tool: it is
 * the same code on both engines, and is tried on the embedded one, which starts sooner.
 */
export function describeOnce(title: string, tests: () => void): void {
  if (engineKind() === 'embedded') describe(title, tests);
}
