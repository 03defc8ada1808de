import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A benchmark's own folder in the system's temporary directory. */
export class Scratch {
  readonly folder = mkdtempSync(join(tmpdir(), 'conclave-bench-'));

  constructor() {
    process.once('exit', () => this.remove());
  }

  /** Writes conclave.yaml (JSON is YAML) into a new data folder and returns the folder. */
  home(name: string, configuration: object): string {
    const home = join(this.folder, name);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'conclave.yaml'), JSON.stringify(configuration, null, 2));
    return home;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
