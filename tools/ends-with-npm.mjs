// `kill <pid of npm start>` reaches npm and the shell between npm and the program, never the program: the shell dies of the signal, npm
// with it, and a server goes on that nobody has any more. A process notices that its parent is gone by the parent's id.

/** How often the parent is looked at, in milliseconds; a system call. */
const lookEveryMs = 250;
const codes = { SIGINT: 130, SIGTERM: 143 };

/**
 * Tells this process SIGTERM when the npm script that started it is gone, unless a signal came to it before: Ctrl+C reaches npm, shell and
 * program alike. Does nothing where `script` is not what npm runs: a program put into the background outlives its shell. Gives a function
 * that says whether npm is gone already, for work that holds the event loop.
 */
export function endWithNpm(script) {
  if (!process.env.npm_lifecycle_script?.includes(script)) return () => false;
  const parent = process.ppid;
  const isGone = () => process.ppid !== parent;
  const watch = setInterval(() => {
    if (!isGone()) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, lookEveryMs);
  watch.unref();
  for (const [signal, code] of Object.entries(codes)) {
    process.on(signal, () => {
      clearInterval(watch);
      // A listener takes the default away: where the program has none of its own, the signal ends it as it would without this one.
      if (process.listenerCount(signal) === 1) process.exit(code);
    });
  }
  return isGone;
}
