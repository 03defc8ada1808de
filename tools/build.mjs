// Compiles src/ of every project, or of the projects named by folder or package, to dist/ in one process:
//   node tools/build.mjs [libs/loop @conclave/ports ...]
// Types are checked elsewhere (`npm run check`); this only translates, so a build takes a second or two. Without names the programs
// under apps/ are bundled too.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { transformSync, version } from '@swc/core';
import { bundleApps } from './bundle.mjs';
import { swcOptions } from './swc-options.mjs';
import { projects, workspaceRoot } from './workspace.mjs';
import { writeWhole } from './write-whole.mjs';

/** Contract suites and specs need Jest; what ships must not. */
const testOnly = /(\.spec|\.contract|\.d)\.m?ts$|^suites\.ts$|(^|\/)__fixtures__\//;
const importsTestOnly = /(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']*(?:\.spec|\.contract)\.js|@conclave\/[^"']+\/suites)["']/;
const compiler = createHash('sha256').update(JSON.stringify(swcOptions)).update(version).digest('hex');

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)));
}

/** Compiles one file; returns its outputs as [path relative to dist, content]. */
function compile(source, name, distFolder, sourcePath) {
  const output = name.replace(/\.ts$/, '.js');
  const outputFolder = dirname(join(distFolder, output));
  const { code, map } = transformSync(source, {
    ...swcOptions,
    filename: sourcePath,
    sourceFileName: relative(outputFolder, sourcePath),
    configFile: false,
    swcrc: false,
  });
  const broken = importsTestOnly.exec(code);
  if (broken) throw new Error(`${relative(workspaceRoot, sourcePath)} ships but imports ${broken[1]}, which only tests may import.`);
  const mapName = `${output.split('/').at(-1)}.map`;
  return [
    [output, `${code}//# sourceMappingURL=${mapName}\n`],
    [`${output}.map`, map],
  ];
}

/** Builds one project; files whose source and compiler are unchanged are left alone. Returns how many files it wrote. */
function buildProject(folder) {
  const sourceFolder = join(workspaceRoot, folder, 'src');
  const distFolder = join(workspaceRoot, folder, 'dist');
  const recordPath = join(distFolder, '.build.json');
  const before = existsSync(recordPath) ? JSON.parse(readFileSync(recordPath, 'utf8')) : {};
  const record = {};
  const outputs = new Set(['.build.json']);
  let written = 0;

  for (const name of filesUnder(sourceFolder)) {
    if (testOnly.test(name)) continue;
    const isCode = name.endsWith('.ts');
    const source = readFileSync(join(sourceFolder, name));
    const digest = createHash('sha256')
      .update(isCode ? compiler : '')
      .update(source)
      .digest('hex');
    const names = isCode ? [name.replace(/\.ts$/, '.js'), name.replace(/\.ts$/, '.js.map')] : [name];
    record[name] = digest;
    for (const output of names) outputs.add(output);
    if (before[name] === digest && names.every((output) => existsSync(join(distFolder, output)))) continue;
    const results = isCode ? compile(source.toString(), name, distFolder, join(sourceFolder, name)) : [[name, source]];
    for (const [output, content] of results) writeWhole(join(distFolder, output), content);
    written += 1;
  }
  for (const stale of filesUnder(distFolder)) {
    if (!outputs.has(stale) && !stale.endsWith('.draft')) rmSync(join(distFolder, stale), { force: true });
  }
  writeWhole(recordPath, JSON.stringify(record));
  return written;
}

const started = Date.now();
const wanted = process.argv.slice(2);
const known = projects();
const unknown = wanted.filter((name) => !known.some((project) => project.folder === name || project.name === name));
if (unknown.length > 0) {
  console.error(`No such project: ${unknown.join(', ')}. Known: ${known.map((project) => project.folder).join(', ')}.`);
  process.exit(1);
}
const chosen = wanted.length === 0 ? known : known.filter((project) => wanted.includes(project.folder) || wanted.includes(project.name));
let written = 0;
const failures = [];
for (const { folder } of chosen) {
  try {
    written += buildProject(folder);
  } catch (error) {
    failures.push(`${folder}: ${error.message}`);
  }
}
if (failures.length > 0) {
  console.error(failures.join('\n'));
  process.exit(1);
}
// Whoever builds single libraries has no use for programs.
if (wanted.length === 0) written += await bundleApps();
if (written > 0) console.error(`Built ${written} files in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
