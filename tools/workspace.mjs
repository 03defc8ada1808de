// Root and projects of the workspace, for the tools. Needs no installed packages.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const workspaceRoot = dirname(dirname(fileURLToPath(import.meta.url)));
const readJson = (path) => JSON.parse(readFileSync(join(workspaceRoot, path), 'utf8'));

/** Every project: folder relative to the root, package name, `layer:` tag, and the servers of its integration tests (`needs:` tags). */
export function projects() {
  // The lockfile lists workspaces as links.
  const folders = Object.values(readJson('package-lock.json').packages).flatMap(({ link, resolved }) => (link ? [resolved] : []));
  return folders.sort().map((folder) => {
    const { name, nx } = readJson(`${folder}/package.json`);
    const tagged = (kind) => (nx?.tags ?? []).filter((tag) => tag.startsWith(`${kind}:`)).map((tag) => tag.slice(kind.length + 1));
    const [layer] = tagged('layer');
    if (!layer) throw new Error(`${folder}/package.json has no layer tag: add "nx": { "tags": ["layer:<name>"] }.`);
    return { folder, name, layer, needs: tagged('needs') };
  });
}

/** Folders that other processes may write at the same time: packages, programs, data of servers. */
const isNoSource = (name) => name === 'node_modules' || name === 'dist' || name.startsWith('.');

/** Paths of the files under a folder, each beginning with the folder as given; empty if it does not exist. */
export function filesUnder(folder, root = workspaceRoot) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (isNoSource(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesUnder(path, root) : [path];
  });
}
