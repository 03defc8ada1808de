// What the tools know about the workspace: its root and its projects. Needs no installed package.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const workspaceRoot = dirname(dirname(fileURLToPath(import.meta.url)));

/** Folders, relative to the root, of the `workspaces` entries of package.json; only a closing `/*` is a pattern. */
function projectFolders() {
  const { workspaces } = JSON.parse(readFileSync(join(workspaceRoot, 'package.json'), 'utf8'));
  const folders = workspaces.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern];
    const parent = pattern.slice(0, -2);
    return existsSync(join(workspaceRoot, parent)) ? readdirSync(join(workspaceRoot, parent)).map((name) => `${parent}/${name}`) : [];
  });
  return folders.filter((folder) => existsSync(join(workspaceRoot, folder, 'package.json'))).sort();
}

/** Every project: its folder relative to the root, its package name, its `layer:` tag, and the servers its integration tests need (`needs:` tags). */
export function projects() {
  return projectFolders().map((folder) => {
    const manifest = JSON.parse(readFileSync(join(workspaceRoot, folder, 'package.json'), 'utf8'));
    const layer = manifest.nx?.tags?.find((tag) => tag.startsWith('layer:'))?.slice('layer:'.length);
    if (!layer) throw new Error(`${folder}/package.json has no layer tag: add "nx": { "tags": ["layer:<name>"] }.`);
    const needs = manifest.nx.tags.filter((tag) => tag.startsWith('needs:')).map((tag) => tag.slice('needs:'.length));
    return { folder, name: manifest.name, layer, needs };
  });
}
