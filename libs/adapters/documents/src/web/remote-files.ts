import { Failure } from '@conclave/contracts';
import type { RemoteFiles } from '@conclave/ports';
import { AllowedHosts } from './addresses.js';
import type { Resolve } from './checked-lookup.js';
import { fetched } from './fetched.js';

export interface RemoteFilesOptions {
  /** Private hosts that may be read: `host` or `host:port`. Throws CONFIGURATION_INVALID for anything else. */
  readonly allowHosts?: readonly string[];
  /** Time of one file with its redirects until its last byte, milliseconds. */
  readonly timeoutMs?: number;
  readonly maxRedirects?: number;
  /** How names become addresses; the system's way by default. */
  readonly resolve?: Resolve;
}

/** Files over HTTP. Every address that a name resolves to is checked when the socket is opened, and again for each redirect. */
export function openRemoteFiles({ allowHosts = [], timeoutMs = 15_000, maxRedirects = 3, resolve }: RemoteFilesOptions = {}): RemoteFiles {
  const allowedHosts = new AllowedHosts(allowHosts);
  return {
    async read({ url, maxBytes, signal }) {
      const over = AbortSignal.timeout(timeoutMs);
      try {
        const any = AbortSignal.any([signal, over]);
        return (await fetched(url, { allowedHosts, limits: { maxBytes, maxRedirects }, resolve, signal: any })).bytes;
      } catch (error) {
        if (signal.aborted) throw new Failure('CALL_CANCELLED');
        if (over.aborted) throw new Failure('PAGE_UNAVAILABLE', `It was not received within ${timeoutMs} ms.`);
        if (error instanceof Failure) throw error;
        throw new Failure('PAGE_UNAVAILABLE', undefined, { cause: error });
      }
    },
  };
}
