import { isMainThread } from 'node:worker_threads';

/** The program and its worker threads have one entry, so that both work from one bundled file: `entry` is its URL. */
export async function start(entry: string): Promise<void> {
  if (isMainThread) {
    const { runProgram } = await import('./program.js');
    process.exit(await runProgram(new URL(entry)));
  }
  const { serveJobs } = await import('./tools/index.js');
  serveJobs();
}
