import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { run } from './processes.mjs';
import { cacheFolder } from './settings.mjs';
import { versions } from './versions.mjs';

const folder = path.join(cacheFolder, `node-${versions.node}`);
const system = `${process.platform}-${process.arch}`;
/** npm packages that consist of the program. */
const systems = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/** The Node.js of the product's image: end-to-end tests run in it too, because its streams and sockets differ from those of older ones. */
export const imageNode = {
  name: 'image-node',
  program: path.join(folder, 'node_modules', `node-${system}`, 'bin', 'node'),
  missing: () => (systems.includes(system) ? null : { reason: `npm has no Node.js ${versions.node} for ${system}`, packages: [] }),
  /** Installs it at the first use. Safe to call from several processes at once. */
  async install() {
    if (existsSync(imageNode.program)) return;
    mkdirSync(cacheFolder, { recursive: true });
    const incoming = mkdtempSync(`${folder}-incoming-`);
    try {
      const options = ['--prefix', incoming, '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
      await run('npm', ['install', ...options, `node-${system}@${versions.node}`], { withinMs: 300_000 });
      if (!existsSync(folder)) renameSync(incoming, folder);
    } finally {
      rmSync(incoming, { recursive: true, force: true });
    }
  },
};
