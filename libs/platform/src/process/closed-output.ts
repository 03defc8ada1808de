/** The part of a stream that is needed here; `process.stdout` and `process.stderr` have it. */
interface Output {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
}

/**
 * Keeps a process alive when its output is closed (`npm start | head`, a closed terminal, a full disk): later output is lost silently. By
 * default, Node ends a process at the first such write. `onClosed` is called once.
 */
export function outliveReaders(onClosed: () => void = () => {}, outputs: readonly Output[] = [process.stdout, process.stderr]): void {
  let told = false;
  for (const output of outputs) {
    output.on('error', () => {
      if (told) return;
      told = true;
      onClosed();
    });
  }
}
