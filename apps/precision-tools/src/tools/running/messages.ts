import type { RefusalCode } from '../refusal.js';

/** Main thread to worker. */
export interface ToolJob {
  id: number;
  name: string;
  args: unknown;
}

/** Worker to main thread; the first message, before any job, is `ready`. */
export type WorkerReply =
  { ready: true } | { id: number; output: unknown } | { id: number; refused: { code: RefusalCode; message: string } };
