import { describe } from '@jest/globals';
import { testedMode } from '@conclave/test-support/system';

/**
 * `describe` for code above or beside the engine, such as the checks of a request, the words of a prompt or the arguments of a tool: it is
 * the same code in both modes, and is tested in embedded mode, which starts sooner.
 */
export function describeOnce(title: string, tests: () => void): void {
  if (testedMode() === 'embedded') describe(title, tests);
}
