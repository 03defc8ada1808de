#!/usr/bin/env node
// Copies the packages that built programs import while they run, with all their dependencies: node deploy/runtime-packages.mjs <folder>
// Everything else is bundled. The second engine of mathematics is left out, because SymPy is available wherever this is used.
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** A native part, and the imports of the threads that read documents. */
export const imported = ['libsql', '@mozilla/readability', 'fflate', 'htmlparser2', 'linkedom', 'saxes', 'unpdf'];

/** The folder of a package as Node finds it from another folder; null for an optional one that is not installed. */
function folderOf(name, from) {
  const folder = join(from, 'node_modules', name);
  if (existsSync(folder)) return folder;
  return from === root || from === dirname(from) ? null : folderOf(name, dirname(from));
}

/** Folders of the packages, relative to the checkout. */
export function folders(names = imported, from = root, taken = new Set()) {
  for (const name of names) {
    const folder = folderOf(name, from);
    if (folder === null || taken.has(folder)) continue;
    taken.add(folder);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    folders([...Object.keys(dependencies), ...Object.keys(optionalDependencies)], folder, taken);
  }
  return [...taken].map((folder) => relative(root, folder));
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const folder of folders()) cpSync(join(root, folder), join(process.argv[2], folder), { recursive: true });
