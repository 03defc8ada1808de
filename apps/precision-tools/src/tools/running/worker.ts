import { parentPort } from 'node:worker_threads';
import { Refusal } from '../refusal.js';
import { jobs } from './jobs.js';
import type { ToolJob, WorkerReply } from './messages.js';

async function replyTo({ id, name, args }: ToolJob): Promise<WorkerReply> {
  try {
    const run = jobs.get(name);
    if (!run) throw new Refusal('UNKNOWN_TOOL', `There is no tool ${name}.`);
    return { id, output: await run(args) };
  } catch (error) {
    if (error instanceof Refusal) return { id, refused: { code: error.code, message: error.message } };
    // The JavaScript engine's own limits: recursion of ours that is too deep, or a string or bigint that is too long.
    if (error instanceof RangeError)
      return { id, refused: { code: 'LIMIT_EXCEEDED', message: 'The question is too large or nested too deeply.' } };
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { id, refused: { code: 'INTERNAL', message: `The tool failed (${message.slice(0, 200)}). Try another way of asking.` } };
  }
}

/** Answers jobs, one at a time, until the thread is ended. To be called in a worker thread. */
export function serveJobs(): void {
  const port = parentPort;
  if (!port) throw new Error('serveJobs runs in a worker thread.');
  port.on('message', (job: ToolJob) => void replyTo(job).then((reply) => port.postMessage(reply)));
  port.postMessage({ ready: true } satisfies WorkerReply);
}
