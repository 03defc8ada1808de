import type { Report } from './measuring/report.js';

export interface BenchmarkOptions {
  /** Measured rounds, after a warm-up round. Absent: the benchmark's default. */
  readonly rounds?: number;
  /** Few, small rounds, to show that the benchmark works; the figures mean little. */
  readonly quick: boolean;
  /** Skips everything that needs Kafka and Redis. */
  readonly embedded: boolean;
  /** Another built checkout of Conclave that B2 and B3 measure beside this one. */
  readonly against?: string;
  /** Folder for CPU profiles of the processes under test. */
  readonly profile?: string;
  /** Reports progress to the user. */
  readonly progress: (text: string) => void;
}

export interface Benchmark {
  readonly id: string;
  readonly title: string;
  /** Why it cannot run here, or null. */
  obstacle(): Promise<string | null>;
  run(options: BenchmarkOptions): Promise<Report>;
}
