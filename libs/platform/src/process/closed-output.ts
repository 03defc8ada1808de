/** What this needs of a stream; `process.stdout` and `process.stderr` are such. */
interface Output {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
}

/**
 * Lets a process go on whose output nobody reads any more (`npm start | head`, a terminal that was closed, a full disk): what is written
 * then is lost, as there is nowhere left to say so. Node ends a process at the first such write otherwise. `onClosed` is told once.
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
