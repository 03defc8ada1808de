import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

const gibibyte = 1024 ** 3;

/** What the figures were measured on, in one line; no name of the host. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = (totalmem() / gibibyte).toFixed(1);
  return `${availableParallelism()} cores (${model}), ${memory} GiB memory, ${process.platform} ${process.arch}, Node ${process.version}`;
}

/** Runnable processes before we started, averaged over a minute: above the number of cores, others are using the machine. */
export const describeLoad = (): string => `load average ${loadavg()[0]!.toFixed(2)} at the start`;
