import { isMainThread } from 'node:worker_threads';

// This file is the entry of the program and of its worker threads, so that both work from one bundled file.
if (isMainThread) {
  const { runProgram } = await import('./program.js');
  process.exit(await runProgram(new URL(import.meta.url)));
} else {
  const { serveJobs } = await import('@conclave/precision');
  serveJobs();
}
