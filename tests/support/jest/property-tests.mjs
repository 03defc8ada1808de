// What a spec imports as `fast-check`: the whole library, with one seed for every property. The seed is fixed, so that a test that has passed
// passes again; `npm run fuzz` sets other seeds (CONCLAVE_FUZZ) and tries each property for a certain time instead of a number of runs.
import * as fc from '../../../node_modules/fast-check/lib/fast-check.js';

const { seed, msPerProperty } = JSON.parse(process.env.CONCLAVE_FUZZ ?? '{ "seed": 20261122 }');
fc.configureGlobal({ seed });

/** Like fast-check's own; it reports a failure with the seed, the path and the counterexample. */
export const assert =
  msPerProperty === undefined
    ? fc.assert
    : (property, parameters) =>
        fc.assert(property, {
          ...parameters,
          numRuns: 1_000_000_000,
          interruptAfterTimeLimit: msPerProperty,
          markInterruptAsFailure: false,
        });

export * from '../../../node_modules/fast-check/lib/fast-check.js';
export default { ...fc, assert };
