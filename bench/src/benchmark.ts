import type { Report } from './measuring/report.js';

export interface BenchmarkOptions {
  /** Measured rounds; a warm-up round comes before them. Absent: the benchmark's own number. */
  readonly rounds?: number;
  /** Few and small rounds: shows that the benchmark works; the figures say little. */
  readonly quick: boolean;
  /** Leaves out what needs Kafka and Redis. */
  readonly embedded: boolean;
  /** Another built checkout of Conclave that B2 measures beside this one. */
  readonly against?: string;
  /** Folder for CPU profiles of the processes under test. */
  readonly profile?: string;
  /** Tells a person what is going on. */
  readonly progress: (text: string) => void;
}

export interface Benchmark {
  readonly id: string;
  readonly title: string;
  /** Why it cannot run here, or null. */
  obstacle(): Promise<string | null>;
  run(options: BenchmarkOptions): Promise<Report>;
}
