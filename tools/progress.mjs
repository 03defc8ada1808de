// Which spec files of a run are not through, kept in a file as a Jest reporter, so that a run that hangs can be told by name.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** The file in which a run of Jest keeps its progress while it lasts; removed when it ended by itself. */
export const progressFile = (level) => `.results/${level}.progress.json`;

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

/** What is written in a progress file; null where there is none. */
export function readProgress(path) {
  // A reader may come while the file is being written: then it is as if there were none yet.
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text.endsWith('}') ? JSON.parse(text) : null;
}

/** Sentences that name what a run was at when it was ended, at the time `now` in milliseconds. */
export function unfinished({ complete, running, left }, now = Date.now()) {
  if (complete) {
    const alive = left?.length > 0 ? `; still alive: ${left.join('; ')}` : '';
    return [`All spec files were through, and Jest did not end: a test left something open${alive}.`];
  }
  if (running.length === 0) return ['Jest was ended before, or between, spec files.'];
  return running.map(({ file, test, since }) => {
    const seconds = Math.round((now - since) / 1000);
    return test === null
      ? `${file} was still being loaded, for ${seconds} s.`
      : `${file} was still at the test "${test}", for ${seconds} s.`;
  });
}
