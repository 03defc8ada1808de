/** Milliseconds of processor time since then: the clock on the wall also counts what other programs do. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
