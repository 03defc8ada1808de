import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/** Storages that code under test has used since the last spec file ended. */
const used = new Set();
for (const name of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[name];
  AsyncLocalStorage.prototype[name] = function (...values) {
    used.add(this);
    return original.apply(this, values);
  };
}

/**
 * Jest's environment for Node, which also cleans up after a spec file: a storage for asynchronous contexts stays on for the whole process
 * and slows down every promise that any later spec file makes.
 */
export default class SpecEnvironment extends TestEnvironment {
  async teardown() {
    for (const storage of used) storage.disable();
    used.clear();
    await super.teardown();
  }
}
