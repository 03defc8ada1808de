import { execFile } from 'node:child_process';

export interface PackagesToInstall {
  /** For messages. */
  readonly name: string;
  /** Folder with package.json and lockfile. */
  readonly folder: string;
  readonly isInstalled: () => boolean;
  readonly mayInstall: boolean;
  /** Printed during the installation, such as the reason why it takes long. */
  readonly note?: string;
  readonly progress: (text: string) => void;
}

/** Compiling a native module takes minutes. */
const installWithinMs = 15 * 60_000;

/** Installs the packages of a reference if missing. Returns null if they are installed, otherwise a sentence that says why not. */
export async function installPackages({
  name,
  folder,
  isInstalled,
  mayInstall,
  note = '',
  progress,
}: PackagesToInstall): Promise<string | null> {
  if (isInstalled()) return null;
  if (!mayInstall) return `${name} is not installed; a full run (without --quick) installs it.`;
  progress(`installing ${name}${note}`);
  try {
    await new Promise<void>((resolve, reject) => {
      execFile('npm', ['ci', '--no-progress', '--loglevel=error'], { cwd: folder, timeout: installWithinMs }, (error, _out, stderr) =>
        error ? reject(new Error(stderr.trim().split('\n').slice(-5).join(' ') || error.message)) : resolve(),
      );
    });
  } catch (error) {
    return `${name} could not be installed: ${(error as Error).message}`;
  }
  return isInstalled() ? null : `${name} could not be installed: a file of it is missing.`;
}
