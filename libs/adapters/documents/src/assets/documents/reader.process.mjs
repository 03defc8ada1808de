// Supervises the thread that reads, in a process of its own: when a document exhausts the heap of the thread in one allocation, the engine ends
// the whole process, which must not be the one that serves.
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const { timeoutMs, heapMb, growthMb, longestStretch } = JSON.parse(process.argv[2]);
/** How often the growth of the process is checked, in milliseconds. */
const lookEveryMs = 50;
const megabyte = 1024 * 1024;

// The end of its parent ends this process, and signals to the group are for the parent: it decides what happens to a document that is being read.
process.on('disconnect', () => process.exit());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

const worker = new Worker(fileURLToPath(new URL('reader.worker.mjs', import.meta.url)), {
  resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 48, stackSizeMb: 4 },
  execArgv: ['--no-warnings'],
  env: {},
  stdout: true,
  stderr: true,
});
worker.stdout.resume();
worker.stderr.resume();

/** The document that is being read; null between two. */
let open = null;

/** Milliseconds. A thread has no processor time of its own in Node 20, and this is at least as much. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function settle(outcome, isLast) {
  if (open === null) return;
  const { id, timer, look } = open;
  clearTimeout(timer);
  clearInterval(look);
  open = null;
  process.send({ id, outcome, isLast }, () => isLast && process.exit());
}
const stop = (failed, message) => settle({ failed, message }, true);

function begin({ id, job }) {
  const since = { wallMs: performance.now(), processorMs: processorTime(), bytes: process.memoryUsage.rss() };
  const check = () => {
    const leftMs = timeoutMs - (processorTime() - since.processorMs);
    if (leftMs <= 0 || performance.now() - since.wallMs >= timeoutMs * longestStretch)
      return stop('slow', `Reading it took longer than ${timeoutMs} ms.`);
    open.timer = setTimeout(check, leftMs);
  };
  const look = setInterval(() => {
    if (process.memoryUsage.rss() - since.bytes > growthMb * megabyte) stop('too_large', 'It needs more memory than allowed.');
  }, lookEveryMs);
  open = { id, look, timer: setTimeout(check, timeoutMs) };
  worker.postMessage({ id, job });
}

worker.on('message', (message) => {
  if (message.ready) {
    process.on('message', begin);
    process.send({ ready: true });
  } else if (message.id === open?.id) settle(message.outcome, false);
});
worker.on('error', (error) =>
  stop('unreadable', error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'It needs more memory than allowed.' : 'Its content is broken.'),
);
worker.on('exit', () => (open === null ? process.exit() : stop('unreadable', 'Reading it was interrupted.')));
