import * as z from 'zod';
import { invalid, quoted } from '../refusal.js';
import { defineTool, longTextChars } from '../tool.js';

const mostMatches = 1_000;
const longestOutput = 200_000;

function compiled(pattern: string, flags: string): RegExp {
  if (pattern.length > 1_000) throw invalid('The pattern may have 1,000 characters.');
  const wanted = [...new Set(flags.toLowerCase().replaceAll(/[\s,]/g, ''))];
  const unknown = wanted.filter((flag) => !'imsgu'.includes(flag));
  if (unknown.length > 0)
    throw invalid(`There is no flag ${quoted(unknown.join(''))}: use i (any case), m (^ and $ at lines), s (. matches line ends).`);
  const chosen = wanted.filter((flag) => 'ims'.includes(flag)).join('');
  try {
    return new RegExp(pattern, `gu${chosen}`);
  } catch (strict) {
    if (!(strict instanceof SyntaxError)) throw strict;
  }
  // Without the Unicode mode a needless escape such as \_ stands for the character itself, as in other languages.
  try {
    return new RegExp(pattern, `g${chosen}`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const hint = pattern.includes('(?P<')
      ? ' Named groups are written (?<name>…).'
      : /^\(\?[a-z]+\)/.test(pattern)
        ? ' Give flags in the argument "flags".'
        : '';
    throw invalid(`${error.message.replace(/^Invalid regular expression: /, 'The pattern cannot be read: ').slice(0, 300)}.${hint}`);
  }
}

/**
 * A backtracking pattern may take forever on a short text. JavaScript cannot interrupt it from within: the thread that runs
 * this tool is ended from outside.
 */
export const regexExtract = defineTool({
  name: 'regex_extract',
  title: 'Regular expression',
  description:
    'All matches of a JavaScript regular expression in a text, with groups and positions. Use it to find or count patterns exactly.',
  input: {
    pattern: z.string().min(1).describe('without slashes, such as "\\\\d{4}-\\\\d{2}" or "(?<user>\\\\w+)@"'),
    text: z.string(),
    flags: z.string().default('').describe('any of i, m, s'),
  },
  output: {
    count: z.int().nonnegative().describe('matches found; at most 1,000 are listed'),
    truncated: z.boolean().describe('true when the search ended at the limit'),
    matches: z.array(
      z.strictObject({
        match: z.string(),
        index: z.int().nonnegative().describe('position in UTF-16 units'),
        groups: z.array(z.string().nullable()),
        named: z.record(z.string(), z.string().nullable()).optional(),
      }),
    ),
  },
  limits: { argumentChars: longTextChars },
  run({ pattern, text, flags }) {
    const expression = compiled(pattern, flags);
    const matches = [];
    let size = 0;
    for (const found of text.matchAll(expression)) {
      const [match, ...groups] = found;
      size += found.reduce((sum, part) => sum + (part?.length ?? 0), 0);
      if (matches.length === mostMatches || size > longestOutput) return { count: matches.length, truncated: true, matches };
      const named = found.groups && Object.fromEntries(Object.entries(found.groups).map(([name, value]) => [name, value ?? null]));
      matches.push({
        match,
        index: found.index,
        groups: groups.map((group: string | undefined) => group ?? null),
        ...(named && { named }),
      });
    }
    return { count: matches.length, truncated: false, matches };
  },
});
