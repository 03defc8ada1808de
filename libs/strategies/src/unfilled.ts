import type { PlannedTask } from '@conclave/contracts';

/** An argument that stands for a value, and the words that do. */
export interface Unfilled {
  readonly name: string;
  readonly said: string;
}

/** A reference of a template language: `{{w1.id}}`, `${w1.id}`, `$w1.id`, `$.w1.id`, `{w1.id}`. */
const references = /\{\{([^{}]{1,200})\}\}|\$\{([^{}]{1,200})\}|\$\.?([A-Za-z_][\w.[\]-]{0,199})|\{([A-Za-z_][\w.[\]-]{1,199})\}/g;
/** A value that is nothing but words in brackets: `<customer_id>`, `{{customer_id}}`, `${customer_id}`, `{customer_id}`, `[customer_id]`. */
const inBrackets = /^(?:<([^<>]{1,200})>|\{\{([^{}]{1,200})\}\}|\$\{([^{}]{1,200})\}|\{([^{}"',:]{1,200})\}|\[([^[\]"',]{1,200})\])$/;
/** Parts of an argument that are looked at: arguments may be large. */
const mostParts = 2_000;
/** Shortest name of an argument that words in brackets repeat by no chance. */
const shortestName = 3;

/**
 * The first argument of a call that stands for the result of another call instead of holding a value. Arguments are sent as they are, so
 * such a call would look for, or write, the words of its plan. `ids`: those of this and of earlier waves. Only a reference to a call, and
 * words in brackets that name a call, a tool or the argument itself, are taken for one: templates and markup may be values.
 */
export function unfilledOf({ args }: Pick<PlannedTask, 'args'>, ids: ReadonlySet<string>, tools: readonly string[]): Unfilled | null {
  const left = { parts: mostParts };
  for (const [name, value] of Object.entries(args ?? {})) {
    const said = standIn(value, name, { ids, tools, left });
    if (said !== null) return { name, said };
  }
  return null;
}

interface Known {
  readonly ids: ReadonlySet<string>;
  readonly tools: readonly string[];
  readonly left: { parts: number };
}

function standIn(value: unknown, name: string, known: Known): string | null {
  if ((known.left.parts -= 1) < 0) return null;
  if (typeof value === 'string') return standsFor(value.trim(), name, known) ? value.trim() : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, part] of Object.entries(value)) {
    const said = standIn(part, Array.isArray(value) ? name : key, known);
    if (said !== null) return said;
  }
  return null;
}

function standsFor(value: string, name: string, { ids, tools }: Known): boolean {
  for (const [whole, ...found] of value.matchAll(references)) {
    const reference = found.find((part) => part !== undefined)!.trim();
    const [first, ...rest] = reference.split(/[.[\s]/).filter((part) => part !== '');
    // A name alone behind `$` inside a text may be a variable of the tool, and one in `{}` a value.
    const isPath = rest.length > 0 || (found[3] === undefined && (found[2] === undefined || whole === value));
    if (first === undefined || !isPath) continue;
    if (ids.has(first)) return true;
    // A result that is named by its number, which may be that of any call.
    const isNumbered = whole === value && /^\d{1,3}\]?$/.test(rest[0] ?? '');
    if (isBefore(first) && (isNumbered || rest.some((part) => ids.has(part)))) return true;
  }
  const words = inBrackets
    .exec(value)
    ?.slice(1)
    .find((part) => part !== undefined);
  if (words === undefined) return false;
  const own = folded(name);
  const named = words.split(/[^\w.-]+/).filter((word) => word !== '');
  return (
    (own.length >= shortestName && folded(words).includes(own)) ||
    partsOf(name).includes(folded(words)) ||
    named.some((word) => tools.includes(word) || (word.includes('.') && ids.has(word.slice(0, word.indexOf('.'))))) ||
    // One word that is an id, such as `<b>`, may be markup.
    (named.length > 1 && named.some((word) => ids.has(word)))
  );
}

/** Whether a word stands before the id of a call in a reference and names no member: `results`, `wave1`. */
export const isBefore = (word: string): boolean => listed.has(word.toLowerCase()) || /^waves?[_-]?\d{0,3}$/i.test(word);
const listed: ReadonlySet<string> = new Set(['results', 'result', 'outputs', 'output', 'steps', 'calls', 'tools']);

/** The words of a name: `customer` and `id` of `customer_id` and of `customerId`. */
const partsOf = (name: string): readonly string[] => name.split(/[_\s-]|(?<=[a-z])(?=[A-Z])/).map(folded);

const folded = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
