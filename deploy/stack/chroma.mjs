import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { probeHttp } from './probes.mjs';
import { findOnPath, run } from './processes.mjs';
import { cacheFolder, deployFolder } from './settings.mjs';
import { versions } from './versions.mjs';

const folderOfOurs = path.join(deployFolder, 'stack', 'chroma');
const installedFolder = path.join(cacheFolder, `chroma-${versions.chromadb}`);

/** ChromaDB from its npm package, in its own folder (400 MB on Linux). Started only by name. */
export const chroma = {
  name: 'chroma',
  title: `ChromaDB ${versions.chromadb}`,
  portNames: ['chroma'],
  readyWithinMs: 30_000,
  stopWithinMs: 10_000,
  missing: () => (existsSync(installedFolder) || findOnPath('npm') ? null : { reason: 'no npm found to fetch ChromaDB', packages: [] }),

  async install() {
    if (existsSync(installedFolder)) return installedFolder;
    mkdirSync(cacheFolder, { recursive: true });
    const incoming = mkdtempSync(path.join(cacheFolder, 'chroma-incoming-'));
    try {
      for (const file of ['package.json', 'package-lock.json']) copyFileSync(path.join(folderOfOurs, file), path.join(incoming, file));
      await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: incoming });
      if (!existsSync(installedFolder)) renameSync(incoming, installedFolder);
    } finally {
      rmSync(incoming, { recursive: true, force: true });
    }
    return installedFolder;
  },

  async prepare({ folder }) {
    mkdirSync(path.join(folder, 'data'), { recursive: true });
  },

  // Not through npx or the .bin link: those leave the real server running as an orphan.
  command: ({ folder, ports, installed }) => ({
    file: process.execPath,
    args: [
      path.join(installed, 'node_modules/chromadb/dist/cli.mjs'),
      'run',
      '--path',
      path.join(folder, 'data'),
      '--host',
      '127.0.0.1',
      '--port',
      String(ports.chroma),
    ],
    cwd: folder,
  }),
  stopped: () => undefined,

  probe: (ports) => probeHttp(ports.chroma, '/api/v2/heartbeat'),
  address: (ports) => `http://127.0.0.1:${ports.chroma}`,
  environment: (ports) => ({ CHROMA_URL: `http://127.0.0.1:${ports.chroma}` }),
};
