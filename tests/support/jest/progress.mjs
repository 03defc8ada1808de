import { renameSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * A reporter of Jest that writes to a file (option `file`) which spec files of a run are not finished, each with its current test, so that
 * a run that hangs can be reported by name.
 */
export default class ProgressReporter {
  #file;
  #running = new Map();

  constructor(_globalConfig, { file }) {
    this.#file = file;
    this.#write(false);
  }

  onTestFileStart({ path }) {
    this.#running.set(path, { file: relative(process.cwd(), path), test: null, since: Date.now() });
    this.#write(false);
  }

  onTestCaseStart({ path }, { fullName }) {
    const file = this.#running.get(path);
    if (file) this.#running.set(path, { ...file, test: fullName, since: Date.now() });
    this.#write(false);
  }

  onTestFileResult({ path }) {
    this.#running.delete(path);
    this.#write(false);
  }

  onRunComplete() {
    this.#write(true);
  }

  #write(complete) {
    // Renamed, because half of a file may look like a whole one to the process that reads it.
    writeFileSync(`${this.#file}.new`, JSON.stringify({ complete, at: Date.now(), running: [...this.#running.values()] }));
    renameSync(`${this.#file}.new`, this.#file);
  }
}
