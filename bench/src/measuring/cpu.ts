import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Clock ticks of /proc a second, on every Linux that Node runs on. */
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

/** CPU seconds that a process has used so far; null where the system does not tell, or the process is gone. */
export function cpuSecondsOf(pid: number): number | null {
  try {
    // The name of the program stands in parentheses and may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticks;
  } catch {
    return null;
  }
}

/** What the machine and some processes of it use from the moment it is made. */
export class CpuMeter {
  private readonly machine = machineTimes();
  private readonly processes: number | null;

  constructor(private readonly pids: readonly number[]) {
    this.processes = this.sum();
  }

  /** Share of all cores that was busy, whoever used them: 1 = nothing was left. */
  busyShare(): number {
    const { busy, all } = machineTimes();
    return all === this.machine.all ? 0 : (busy - this.machine.busy) / (all - this.machine.all);
  }

  /** CPU seconds of the processes; null where the system does not tell. */
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
