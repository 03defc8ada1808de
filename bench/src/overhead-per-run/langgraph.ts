import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { workspaceRoot } from '@conclave/test-support/system';

const folder = join(workspaceRoot, 'bench/langgraph');
/** A native module is compiled on the way, which takes minutes. */
const installWithinMs = 15 * 60_000;

export const langGraphWorker = pathToFileURL(join(folder, 'worker.mjs'));

const isInstalled = (): boolean =>
  existsSync(join(folder, 'node_modules/@langchain/langgraph/package.json')) &&
  existsSync(join(folder, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'));

/** Installs LangGraph.js where it is not yet. Null when it is there, otherwise a sentence that says why not. */
export async function ensureLangGraph(options: {
  readonly mayInstall: boolean;
  readonly progress: (text: string) => void;
}): Promise<string | null> {
  if (isInstalled()) return null;
  if (!options.mayInstall) return 'LangGraph.js is not installed; a full run (without --quick) installs it.';
  options.progress('installing LangGraph.js into bench/langgraph; a native module is compiled, which takes some minutes');
  try {
    await new Promise<void>((resolve, reject) => {
      execFile('npm', ['ci', '--no-progress', '--loglevel=error'], { cwd: folder, timeout: installWithinMs }, (error, _out, stderr) =>
        error ? reject(new Error(stderr.trim().split('\n').slice(-5).join(' ') || error.message)) : resolve(),
      );
    });
  } catch (error) {
    return `LangGraph.js could not be installed: ${(error as Error).message}`;
  }
  return isInstalled() ? null : 'LangGraph.js could not be installed: its native SQLite module was not built.';
}
