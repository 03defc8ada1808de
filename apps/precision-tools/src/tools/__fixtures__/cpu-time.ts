/** Milliseconds of processor time since then; a wall clock would also count the work of other programs. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
