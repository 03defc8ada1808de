import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Failure } from '@conclave/contracts';
import { checkReach } from './addresses.js';

/** How a name becomes addresses; the system's way unless a test sets another. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (host) =>
  new Promise((resolve, reject) =>
    lookup(host, { all: true, verbatim: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
  );

/**
 * A `lookup` for sockets: the addresses it returns are the ones that are connected to, so a name cannot resolve differently between the
 * check and the use. A single forbidden address refuses the whole name.
 */
export function checkedLookup(allowed: boolean, resolve: Resolve = systemResolve): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        try {
          if (addresses.length === 0) throw new Failure('PAGE_UNAVAILABLE', 'Its host has no address.');
          for (const { address } of addresses) checkReach(address, allowed);
        } catch (error) {
          return callback(error as Error, '', 0);
        }
        const wanted =
          options.family === 4 || options.family === 6 ? addresses.filter(({ family }) => family === options.family) : addresses;
        const first = wanted[0];
        if (!first) return callback(new Failure('PAGE_UNAVAILABLE', 'Its host has no address of this kind.'), '', 0);
        return options.all ? callback(null, [...wanted]) : callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, '', 0),
    );
  };
}
