/** Clauses at the end of a sentence that qualify an operation: `from 0 to 3`, `as x approaches 0`, `nach x`. */
export interface Clauses {
  rest: string;
  readonly args: Record<string, unknown>;
}

type Taken = (found: RegExpExecArray) => Readonly<Record<string, unknown>>;

const name = '([a-z](?:_?\\d{1,3})?)';
/** Bounded length, so that matching a long text stays fast. */
const value = '([^=<>]{1,160}?)';

const patterns: Readonly<Record<string, readonly (readonly [RegExp, Taken])[]>> = {
  variable: [
    [
      new RegExp(`\\s+(?:with respect to|wrt|w\\.r\\.t\\.|in terms of|nach(?: der variablen)?)\\s+${name}$`, 'iu'),
      ([, variable]) => ({ variable }),
    ],
    [new RegExp(`\\s*(?<![a-z])d${name}$`, 'iu'), ([, variable]) => ({ variable })],
  ],
  range: [
    [
      new RegExp(`\\s+(?:for|für)\\s+${name}\\s*(?:from|von|=)\\s*${value}\\s*(?:to|bis|\\.\\.\\.?)\\s*${value}$`, 'iu'),
      ([, variable, lower, upper]) => ({ variable, lower, upper }),
    ],
    [
      new RegExp(`\\s+(?:from|von)\\s+${name}\\s*=\\s*${value}\\s+(?:to|bis)\\s+(?:${name}\\s*=\\s*)?${value}$`, 'iu'),
      ([, variable, lower, , upper]) => ({ variable, lower, upper }),
    ],
    [new RegExp(`\\s+(?:from|von)\\s+${value}\\s+(?:to|bis)\\s+${value}$`, 'iu'), ([, lower, upper]) => ({ lower, upper })],
    [new RegExp(`\\s+(?:between|zwischen)\\s+${value}\\s+(?:and|und)\\s+${value}$`, 'iu'), ([, lower, upper]) => ({ lower, upper })],
  ],
  approach: [
    [
      new RegExp(`\\s+(?:as|when|for|für|wenn)\\s+${name}\\s*(?:approaches|tends to|goes to|->|→|gegen|strebt gegen)\\s*${value}$`, 'iu'),
      ([, variable, point]) => ({ variable, point }),
    ],
  ],
  side: [
    [/\s+(?:from the (?:right|positive side)|from above|von (?:rechts|oben))$/iu, () => ({ direction: '+' })],
    [/\s+(?:from the (?:left|negative side)|from below|von (?:links|unten))$/iu, () => ({ direction: '-' })],
  ],
  at: [
    [
      new RegExp(`\\s+(?:at|an der stelle|bei|in)\\s+(?:the point\\s+)?${name}\\s*=\\s*${value}$`, 'iu'),
      ([, variable, point]) => ({ variable, point }),
    ],
  ],
  around: [
    [
      new RegExp(`\\s+(?:around|about|at|um|bei)\\s+(?:${name}\\s*=\\s*)?${value}$`, 'iu'),
      ([, variable, point]) => ({ ...(variable ? { variable } : {}), point }),
    ],
  ],
  order: [
    [
      /\s+(?:up )?(?:to|of|bis)\s+(?:the\s+)?(?:zur\s+)?(?:order|degree|ordnung|grad)\s+(\d+)$/iu,
      ([, order]) => ({ order: Number(order) + 1 }),
    ],
    [/\s+(?:up )?to\s+(?:the\s+)?(\d+)(?:st|nd|rd|th)\s+(?:order|degree)$/iu, ([, order]) => ({ order: Number(order) + 1 })],
  ],
  values: [
    [
      new RegExp(
        `\\s*,?\\s+(?:for|at|where|with|if|when|für|mit|wenn|bei)\\s+((?:${name}\\s*=\\s*[^=,]+?)(?:\\s*(?:,|and|und)\\s*${name}\\s*=\\s*[^=,]+?)*)$`,
        'iu',
      ),
      ([, list]) => ({
        values: Object.fromEntries(list!.split(/,|\sand\s|\sund\s/iu).map((one) => one.split('=').map((part) => part.trim()))),
      }),
    ],
  ],
  digits: [
    [
      /\s*,?\s+(?:with|to|correct to|auf|mit)\s+(\d{1,4})\s+(?:significant\s+|signifikante\w*\s+)?(?:digits?|figures|stellen|ziffern)(?: genau)?$/iu,
      ([, n]) => ({ precision: Number(n) }),
    ],
  ],
  unknowns: [
    [
      new RegExp(`\\s+(?:for|nach)\\s+${name}((?:\\s*(?:,|and|und)\\s*${name})*)(?:\\s+auf)?$`, 'iu'),
      ([, first, more]) => ({ variables: [first, ...(more!.match(/\b[a-z](?:_?\d{1,3})?\b/giu) ?? [])] }),
    ],
  ],
};

export type Clause = 'variable' | 'range' | 'approach' | 'side' | 'at' | 'around' | 'order' | 'values' | 'digits' | 'unknowns';

/** Removes these clauses from the end of a text, in any order, each once. */
export function takeClauses(text: string, wanted: readonly Clause[]): Clauses {
  const taken: Clauses = { rest: text.trim(), args: {} };
  const left = new Set(wanted);
  for (let again = true; again;) {
    again = false;
    for (const clause of left) {
      for (const [pattern, read] of patterns[clause]!) {
        const found = pattern.exec(taken.rest);
        if (!found) continue;
        taken.rest = taken.rest.slice(0, found.index).trim();
        Object.assign(taken.args, trimmed(read(found)));
        left.delete(clause);
        again = true;
        break;
      }
    }
  }
  return taken;
}

const trimmed = (args: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(args).map(([key, given]) => [key, typeof given === 'string' ? given.trim() : given]));
