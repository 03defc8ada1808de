import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Addresses by which stack traces name the loaded modules, and the files in their folders. */
const places: string[] = [];

/**
 * Keeps the process alive if a module throws where nobody can catch it, such as in a timer, or forgets to await a promise that fails: the
 * error is reported as a warning. Errors of the product still end the process.
 */
export function outlive(path: string): void {
  if (!process.hasUncaughtExceptionCaptureCallback()) process.setUncaughtExceptionCaptureCallback(take);
  places.push(`${pathToFileURL(path).href}:`, `${path}:`);
  const folder = `${dirname(path)}/`;
  // A folder that also contains the product is left out, because errors of the product would count as the module's.
  if (!(process.argv[1] ?? folder).startsWith(folder)) places.push(pathToFileURL(folder).href);
}

export const isOfExtension = (error: unknown): error is Error =>
  error instanceof Error && places.some((place) => (error.stack ?? '').includes(place));

function take(error: Error): void {
  if (!isOfExtension(error)) {
    if ((process as NodeJS.EventEmitter).emit('uncaughtException', error, 'uncaughtException')) return;
    console.error(error);
    // Node.js reports the failure of a promise without the place if no Error was thrown.
    if ((error as NodeJS.ErrnoException).code === 'ERR_UNHANDLED_REJECTION')
      console.error(
        'If an extension started this without awaiting it: await or catch it there, and throw Errors, which name their module.',
      );
    process.exit(1);
  }
  const at = error.stack?.split('\n').find((line) => places.some((place) => line.includes(place)));
  process.emitWarning(
    `An extension failed where nothing waits for it: ${error.name}: ${error.message} (${at?.trim() ?? 'no line'}). Await or catch what it starts.`,
    'ExtensionWarning',
  );
}
