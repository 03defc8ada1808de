import type { PlannedTask } from '@conclave/contracts';
import { foldedName } from '../folded-name.js';
import { jsonIn } from '../replies/json-reply.js';
import { isObject } from '../replies/names.js';
import { isBefore } from '../unfilled.js';

/** Where a plan takes a value from: `said` is the reference as it stands in an argument. */
export interface Reference {
  readonly said: string;
  /** Id of an earlier call. */
  readonly call: string;
  readonly path: readonly string[];
}

/** `{{w1.items[3].id}}`, `${w1.id}`, `{w1.id}`; `$w1.id`, `$.w1.id` and `<w1.id>` only as a whole argument. */
const inText = /\{\{([^{}]{1,200})\}\}|\$\{([^{}]{1,200})\}|\{([A-Za-z_][\w.[\]-]{1,199})\}/g;
const alone = /^(?:\$\.?([A-Za-z_][\w.[\]"'-]{0,199})|<([A-Za-z_][\w.[\]"'-]{1,199})>)$/;
/** Such brackets around a name alone may be a value. */
const needsPath = /^(?:\{(?!\{)|<)/;
/** Words between the id of a call and a path that name no member. */
const between: ReadonlySet<string> = new Set([
  'result',
  'output',
  'response',
  'content',
  'data',
  'text',
  'json',
  'value',
  'structuredcontent',
]);
/** Longest value that is filled in, in characters, and most values of a result that are looked at. */
const longestValue = 2_000;
const mostValues = 50_000;

/** References of a call's arguments to earlier calls, each once. */
export function referencesOf({ args }: PlannedTask, earlier: ReadonlySet<string>): readonly Reference[] {
  const found = new Map<string, Reference>();
  eachText(args ?? {}, (text) => {
    const whole = alone.exec(text.trim());
    for (const [said, ...parts] of whole ? [whole] : text.matchAll(inText)) {
      const [first, ...rest] = stepsOf(parts.find((part) => part !== undefined)!);
      if (first === undefined) continue;
      const [call, ...path] = isBefore(first) && !earlier.has(first) ? rest : [first, ...rest];
      if (call !== undefined && earlier.has(call) && (path.length > 0 || !needsPath.test(said))) found.set(said, { said, call, path });
    }
  });
  return [...found.values()];
}

const stepsOf = (path: string): string[] => path.split(/[.[\]"'\s]+/).filter((step) => step !== '');

function eachText(value: unknown, see: (text: string) => void): void {
  if (typeof value === 'string') see(value);
  else if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) eachText(member, see);
}

/** A call with the values of its references, by what is said for them; one without a value stays as it is. */
export function filledIn(task: PlannedTask, values: ReadonlyMap<string, unknown>): PlannedTask {
  const filled = (value: unknown): unknown => {
    if (typeof value === 'string') {
      if (values.has(value.trim())) return values.get(value.trim());
      return value.replace(inText, (said) => (values.has(said) ? String(values.get(said)) : said));
    }
    if (Array.isArray(value)) return value.map(filled);
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filled(member)])) : value;
  };
  return { ...task, args: filled(task.args ?? {}) as PlannedTask['args'] };
}

/**
 * The single value of a result to which a path leads, or the only one that a member or a line of that name has; undefined if there is none,
 * or if several differ. `text`: the whole result.
 */
export function valueAt(text: string, path: readonly string[]): unknown {
  const value = /^\s*[[{]/.test(text) ? jsonIn(text) : undefined;
  const isStructure = typeof value === 'object' && value !== null;
  const steps = [...path];
  while (steps.length > 0) {
    const reached = isStructure ? followed(value, steps) : undefined;
    if (isSingle(reached)) return reached;
    if (steps.length === 1 || !between.has(steps[0]!.toLowerCase())) break;
    steps.shift();
  }
  const [name, ...others] = steps;
  if (name === undefined) return isStructure || text.trim().length > longestValue ? undefined : text.trim() || undefined;
  if (others.length > 0) return undefined;
  const named = isStructure ? membersNamed(value, name, isCut.test(text)) : linesNamed(text, name);
  return named.size === 1 ? [...named][0] : undefined;
}

const isSingle = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '' && value.length <= longestValue) || typeof value === 'number' || typeof value === 'boolean';

function followed(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    const names = Object.keys(at).filter((name) => foldedName(name) === foldedName(step));
    const name = Object.hasOwn(at, step) ? step : names.length === 1 ? names[0]! : null;
    if (name === null) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  return at;
}

/** Whether entries of lists were left out of a result. */
const isCut = /\n\[The result is cut: [^[\]\n]{1,200}\]$/;

/** The values of a name. Of a list that was cut, what the other entries have is not known, so that none is the only one. */
function membersNamed(value: unknown, name: string, isPart: boolean): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const left = [{ at: value, inList: false }];
  for (let seen = 0; left.length > 0 && seen < mostValues; seen += 1) {
    const { at, inList } = left.pop()!;
    if (typeof at !== 'object' || at === null) continue;
    const isList = Array.isArray(at);
    for (const [member, inner] of Object.entries(at)) {
      if (!isList && foldedName(member) === foldedName(name) && isSingle(inner)) {
        if (isPart && inList) return new Set();
        found.add(inner);
      }
      left.push({ at: inner, inList: inList || isList });
    }
  }
  return found;
}

/** What stands behind `Game ID:` on a line of its own. */
function linesNamed(text: string, name: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const line of text.split('\n')) {
    const at = line.indexOf(':');
    const value = line.slice(at + 1).trim();
    const label = line
      .slice(0, Math.max(0, at))
      .replace(/^[\s*•#-]{1,20}/, '')
      .replace(/\*{1,2}$/, '');
    if (at > 0 && label.length <= 60 && value.length > 0 && value.length <= 200 && foldedName(label) === foldedName(name)) found.add(value);
  }
  return found;
}
