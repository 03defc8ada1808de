import { openToolbox } from './tools/index.js';
import { readOptions, usage } from './options.js';
import { serveStdio } from './stdio.js';

/** stdout belongs to the protocol. */
const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs until the input ends (stdio) or a signal arrives (HTTP). Returns the exit code. */
export async function runProgram(workerFile: URL): Promise<number> {
  // If nobody reads the log lines any more, they are lost and the tools continue.
  process.stderr.on('error', () => {});
  let options;
  let toolbox;
  try {
    options = readOptions(process.argv.slice(2), process.env);
    if (options.help) return (process.stdout.write(usage), 0);
    toolbox = openToolbox({ workerFile, lawUrl: options.lawUrl, onlyUsable: options.onlyUsable, log });
  } catch (error) {
    log(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  try {
    if (options.http) {
      // A stdio child starts faster without it.
      const { serveHttp } = await import('./http.js');
      const service = await serveHttp(toolbox, { ...options, log });
      log(`The precision tools listen on ${service.url}`);
      await stopped;
      await service.close();
    } else {
      // A client that has left closes the pipe; the remaining output is not needed.
      process.stdout.on('error', () => process.exit(0));
      await Promise.race([serveStdio(toolbox, process.stdin, process.stdout), stopped]);
    }
    return 0;
  } catch (error) {
    log(`The precision tools cannot start: ${(error as Error).message}`);
    return 1;
  } finally {
    await toolbox.close();
  }
}
