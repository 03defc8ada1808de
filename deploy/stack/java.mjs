import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder, deployFolder } from './settings.mjs';
import { findOnPath, run } from './processes.mjs';
import { versions } from './versions.mjs';

/** Version text of the `java` on PATH, such as '17.0.15', or null. */
export function javaVersion() {
  const java = findOnPath('java');
  if (java === null) return null;
  try {
    const said = execFileSync('sh', ['-c', '"$1" -version 2>&1', 'sh', java], { encoding: 'utf8' });
    return /version "([^"]+)"/.exec(said)?.[1] ?? null;
  } catch (error) {
    if (typeof error.status === 'number') return null; // a stub that only reports that Java is not installed (macOS)
    throw error;
  }
}

const majorOf = (version) => Number.parseInt(version.replace(/^1\./, ''), 10);
const jarsFolder = (name) => path.join(cacheFolder, `${name}-${versions[name]}`);

/** Null when this server's jars can be fetched and run; otherwise `{ reason, packages }` with the Debian packages to install. */
export function missingForJava(name, acceptsMajor, wanted) {
  const version = javaVersion();
  const packages = ['default-jre-headless', 'maven'];
  if (version === null) return { reason: `no Java found (${wanted})`, packages };
  if (!acceptsMajor(majorOf(version))) return { reason: `Java ${version} found, ${wanted} needed`, packages: [] };
  if (existsSync(jarsFolder(name)) || findOnPath('mvn')) return null;
  return { reason: 'no Maven found to fetch the jars', packages: ['maven'] };
}

// Maven's local repository does not support two writers, so jars are fetched for one server after the other.
let lastFetch = Promise.resolve();

/** Folder with all jars of the server, fetched by Maven on first use. Safe to call from several processes at once. */
export function jarsOf(name) {
  const folder = jarsFolder(name);
  const fetchOnce = async () => {
    if (existsSync(folder)) return folder;
    mkdirSync(cacheFolder, { recursive: true });
    const incoming = mkdtempSync(path.join(cacheFolder, `${name}-incoming-`));
    try {
      const pom = path.join(deployFolder, 'stack', name, 'pom.xml');
      await run('mvn', [
        '-q',
        '-B',
        '-f',
        pom,
        `-Dserver.version=${versions[name]}`,
        'dependency:copy-dependencies',
        '-DincludeScope=runtime',
        `-DoutputDirectory=${incoming}`,
      ]);
      adopt(incoming, folder);
    } finally {
      rmSync(incoming, { recursive: true, force: true });
    }
    return folder;
  };
  const fetched = lastFetch.then(fetchOnce);
  lastFetch = fetched.catch(() => undefined); // the caller gets the failure through `fetched`; the next fetch runs anyway
  return fetched;
}

/** Moves a complete download to its final name; if another process was first, its result is used. */
function adopt(incoming, folder) {
  try {
    renameSync(incoming, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

const archiveOf = (name) => path.join(cacheFolder, `${name}-${versions[name]}-java${javaVersion()}.jsa`);
const freshArchive = (folder) => path.join(folder, 'classes.jsa');

/**
 * Flags for Java's archive of loaded classes, which saves seconds at every later start. The first server with a clean
 * shutdown writes it; {@link keepClassArchive} moves it to the cache. Java ignores an archive that does not match.
 */
export function classArchiveFlags(name, folder) {
  const archive = archiveOf(name);
  const quiet = ['-Xshare:auto', '-Xlog:cds=off', '-Xlog:cds+dynamic=off', '-Xlog:class+path=off'];
  return existsSync(archive)
    ? [`-XX:SharedArchiveFile=${archive}`, ...quiet]
    : [`-XX:ArchiveClassesAtExit=${freshArchive(folder)}`, ...quiet];
}

/** Call it after a server was stopped by SIGTERM: keeps its class archive, if it wrote one. */
export function keepClassArchive(name, folder) {
  const written = freshArchive(folder);
  if (!existsSync(written)) return;
  const archive = archiveOf(name);
  if (!existsSync(archive)) {
    mkdirSync(path.dirname(archive), { recursive: true });
    const incoming = `${archive}.${process.pid}`;
    copyFileSync(written, incoming);
    renameSync(incoming, archive);
  }
  rmSync(written);
}
