import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Clock ticks per second in /proc, on every Linux that Node supports. */
const ticks = 100;

interface Times {
  readonly busy: number;
  readonly all: number;
}

function machineTimes(): Times {
  let busy = 0;
  let all = 0;
  for (const { times } of cpus()) {
    const sum = times.user + times.nice + times.sys + times.idle + times.irq;
    all += sum;
    busy += sum - times.idle;
  }
  return { busy, all };
}

/** CPU seconds a process has used so far; null when the system does not report it or the process is gone. */
export function cpuSecondsOf(pid: number): number | null {
  try {
    // The program name is in parentheses and may contain anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticks;
  } catch {
    return null;
  }
}

/** Measures the CPU use of the machine and of some processes since its creation. */
export class CpuMeter {
  private readonly machine = machineTimes();
  private readonly processes: number | null;

  constructor(private readonly pids: readonly number[]) {
    this.processes = this.sum();
  }

  /** Busy share of all cores, by any process: 1 = fully used. */
  busyShare(): number {
    const { busy, all } = machineTimes();
    return all === this.machine.all ? 0 : (busy - this.machine.busy) / (all - this.machine.all);
  }

  /** CPU seconds of the processes; null when the system does not report them. */
  seconds(): number | null {
    const now = this.sum();
    return now === null || this.processes === null ? null : now - this.processes;
  }

  private sum(): number | null {
    let sum = 0;
    for (const pid of this.pids) {
      const seconds = cpuSecondsOf(pid);
      if (seconds === null) return null;
      sum += seconds;
    }
    return sum;
  }
}
