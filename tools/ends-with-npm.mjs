// `kill <pid of npm start>` ends npm and the shell between npm and the program, but not the program, which would continue as an orphan.
// A process detects that its parent is gone by a changed parent id.

/** Milliseconds between two checks of the parent; each is one system call. */
const lookEveryMs = 250;
const codes = { SIGINT: 130, SIGTERM: 143 };

/**
 * Sends SIGTERM to this process when the npm script that started it has ended, unless a signal arrived before: Ctrl+C reaches npm, shell
 * and program alike. Does nothing if npm does not run `script`: a background program may outlive its shell. Returns a function that tells
 * whether npm has ended, for code that blocks the event loop.
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
      // A listener disables the default action; if the program has no other listener, exit as by default.
      if (process.listenerCount(signal) === 1) process.exit(code);
    });
  }
  return isGone;
}
