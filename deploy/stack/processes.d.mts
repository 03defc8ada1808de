export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; distinguishes a process from a later one with the same id. */
  readonly startedAt: string;
}
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}
export function startOf(pid: number): string | null;
export function identify(pid: number): ProcessIdentity;
export function isAlive(identity: ProcessIdentity): boolean;
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean;
export function waitForExit(identity: ProcessIdentity, withinMs: number): Promise<boolean>;
export function stopProcess(identity: ProcessIdentity, withinMs: number): Promise<'gone' | 'stopped' | 'killed'>;
export function startProcess(
  command: Command,
  logFile: string,
  lifetime: 'detached' | 'ours',
): Promise<ProcessIdentity & { readonly exited: Promise<string> }>;
export function findOnPath(program: string): string | null;
export function run(
  file: string,
  args: readonly string[],
  options?: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string; readonly input?: string; readonly withinMs?: number },
): Promise<string>;
export function lastLines(logFile: string, lines?: number): string;
