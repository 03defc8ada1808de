// Which spec files of a run are not through, kept in a file as a Jest reporter, so that a run that hangs can be told by name.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Jest's reporter. Option `file`: where to write. */
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
    writeFileSync(this.#file, JSON.stringify({ complete, at: Date.now(), running: [...this.#running.values()] }));
  }
}

/** What is written in a progress file; null where there is none, or while it is being written. */
export function readProgress(path) {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text.endsWith('}') ? JSON.parse(text) : null;
}

/** Sentences that name what a run was at when it was ended. */
export function unfinished(progress) {
  if (progress?.complete) return ['All spec files were through, and Jest did not end: a test left something open.'];
  if (!progress?.running.length) return ['Jest was ended before, or between, spec files.'];
  return progress.running.map(({ file, test, since }) => {
    const at = test === null ? 'being loaded' : `at the test "${test}"`;
    return `${file} was still ${at}, for ${Math.round((Date.now() - since) / 1000)} s.`;
  });
}
