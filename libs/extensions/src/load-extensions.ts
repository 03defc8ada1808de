import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure, shippedClasses, type Configuration } from '@conclave/contracts';
import {
  addCapability,
  addStrategy,
  broughtByExtensions,
  callExtensionsBy,
  describedIn,
  kindMade,
  saying,
  type ExtensionCapability,
  type Made,
} from '@conclave/strategies';
import type * as zod from 'zod';
import { extensionKit, type Extension, type ExtensionKit } from './extension-kit.js';
import { interrupting } from './interrupting.js';
import { outlive } from './outlive.js';
import { endingStandstill, type Awaiting } from './standstill.js';

const loaded = new Set<string>();
/** Maximum milliseconds for loading a module: it may read a file or ask a server, but must not delay the start for long. */
const longestLoadMs = 30_000;
const longestCheckMs = 10_000;
/** A process is ended only after so many times `extension_timeout_s`: that also ends the work of others, unlike stopping a function. */
const patience = 3;

/** All of zod, loaded from the installed packages: in the bundle it would slow down the start of every program. */
const packageOfSchemas: string = 'zod';
const kit = async (): Promise<ExtensionKit> => extensionKit((await import(packageOfSchemas)) as typeof zod);

/** Absolute paths of modules, the seconds after which a function of one that does not return is stopped, and the classes of workers. */
export type ExtensionSettings = Pick<Configuration, 'extensions' | 'extension_timeout_s' | 'task_classes'>;

/**
 * Loads modules and registers their contents, each module once. Returns everything that extensions brought to this process. Throws Failure
 * CONFIGURATION_INVALID, with the path, if one cannot be loaded or exports something invalid.
 */
export async function loadExtensions(
  settings: ExtensionSettings,
  limitMs = longestLoadMs,
): Promise<ReturnType<typeof broughtByExtensions>> {
  const { extension_timeout_s: timeoutS } = settings;
  const paths = settings.extensions.filter((path) => !loaded.has(path));
  if (paths.length === 0) return broughtByExtensions();
  let wait: Awaiting = (_what, work) => work();
  if (timeoutS > 0) {
    wait = endingStandstill(patience * timeoutS * 1_000);
    callExtensionsBy({ call: interrupting(timeoutS * 1_000), wait });
  }
  for (const path of paths) {
    if (loaded.has(path)) continue;
    const { strategies = [], capabilities = [] } = await wait({ name: 'the loading', module: path }, () => extensionOf(path, limitMs));
    const version = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
    const fault = capabilities.map(({ declaration }) => classFault(declaration, settings)).find((sentence) => sentence !== null);
    if (fault) throw refused(path, new Error(fault));
    try {
      for (const one of strategies) addStrategy({ ...one, version });
      for (const { declaration, ...one } of capabilities) addCapability({ ...one, declaration: { ...declaration, version } });
    } catch (error) {
      throw refused(path, error);
    }
    outlive(path);
    loaded.add(path);
  }
  return broughtByExtensions();
}

async function extensionOf(path: string, limitMs: number): Promise<Extension> {
  let extension: unknown;
  if (/\.[cm]?ts$/.test(path) && !runsTypeScript())
    throw refused(
      path,
      new Error(
        `this Node.js (${process.version}) does not run TypeScript. Use 22.18 or newer, or compile it: npx esbuild ${basename(path)} --bundle --format=esm --platform=node --outfile=${basename(path).replace(/\.[cm]?ts$/, '.mjs')}, and name the result`,
      ),
    );
  try {
    describedIn(path);
    extension = await soon(exported(path), limitMs);
  } catch (error) {
    throw refused(path, error);
  } finally {
    describedIn(null);
  }
  const given = extension as Extension | null | undefined;
  for (const name of Object.keys(given ?? {}))
    if (name !== 'strategies' && name !== 'capabilities')
      throw refused(path, new Error(`its function returns \`${name}\`, which is unknown; there are: strategies, capabilities`));
  const isList = (value: unknown): boolean => value === undefined || Array.isArray(value);
  if (typeof given !== 'object' || given === null || !isList(given.strategies) || !isList(given.capabilities))
    throw refused(path, new Error('its function does not return an object with the lists `strategies` and `capabilities`'));
  const fault = unmadeFault('strategy', 'strategies', given.strategies) ?? unmadeFault('capability', 'capabilities', given.capabilities);
  if (fault) throw refused(path, new Error(fault));
  return given;
}

/** What is wrong with the first entry of a list that the kit did not make for it: nothing has checked it, and no run can use it. */
function unmadeFault(kind: Made, list: string, given: readonly unknown[] = []): string | null {
  const index = given.findIndex((one) => kindMade(one) !== kind);
  if (index === -1) return null;
  const other = kindMade(given[index]);
  if (other) return `\`${list}[${index}]\` is a ${other}; put it into the other list`;
  return `\`${list}[${index}]\` was not made by the kit: make it with \`${kind}({ … })\`, and return what that returns unchanged`;
}

/** What is wrong with the class of a capability, else null. A class that is not configured has no topic: what is sent to it waits for ever. */
function classFault({ name, taskClass }: ExtensionCapability['declaration'], { task_classes: classes }: ExtensionSettings): string | null {
  const known = [...shippedClasses, ...Object.keys(classes)];
  if (known.includes(taskClass)) return null;
  const isMoved = Object.values(classes).some(({ capabilities }) => capabilities.includes(name));
  if (isMoved) return null;
  return `the capability "${name}" is served by workers of the class "${taskClass}", which is not configured: add \`task_classes: { ${taskClass}: { capabilities: [${name}] } }\`, and start experts whose WORKER_CLASSES contain it; or use one of: ${known.join(', ')}`;
}

/** Newer versions of Node.js strip the types of TypeScript by themselves. */
const runsTypeScript = (): boolean => Boolean((process.features as { readonly typescript?: unknown }).typescript);

/** The result of the module's default export. Throws if that is not a function. */
async function exported(path: string): Promise<unknown> {
  const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  if (typeof module.default !== 'function') throw new Error('it exports no function by default');
  return (module.default as (kit: ExtensionKit) => unknown)(await kit());
}

/** Rejects after `limitMs`: without a limit, a module that never loads would block the start without a message. */
async function soon<T>(loading: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it was not loaded within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}

const refused = (path: string, error: unknown): Failure =>
  new Failure('CONFIGURATION_INVALID', `extensions: ${path} cannot be used: ${sentenceOf(path, error)}`);

function sentenceOf(path: string, error: unknown): string {
  const line = error instanceof SyntaxError ? lineOfSyntaxError(path) : null;
  const said = error instanceof Failure ? (error.detail ?? error.message) : line ? `${(error as Error).message} (${line})` : saying(error);
  return /[.!?]$/.test(said) ? said : `${said}.`;
}

/** File and line of a syntax error of a module, which the error itself does not name; null if the module has none. */
function lineOfSyntaxError(path: string): string | null {
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8', timeout: longestCheckMs });
  const [, line] = /^(.*):(\d+)$/m.exec(stderr?.split('\n')[0] ?? '')?.slice(1) ?? [];
  return line === undefined ? null : `${basename(path)}:${line}`;
}
