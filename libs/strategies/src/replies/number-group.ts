/** Brackets that hold nothing but numbers and such brackets. */
export interface NumberGroup {
  /** Characters, with both outer brackets. */
  readonly length: number;
  readonly numbers: readonly number[];
  /** Whether it holds several rows of several numbers, which nobody writes as a citation. */
  readonly isMatrix: boolean;
}

/** Most characters of a group. */
export const longestGroup = 200;

/**
 * The group of numbers at the front of a text, which begins with `[`: `[2]`, `[1, 3]`, `[[2]]`, `[1[3]]`. Numbers have up to three digits
 * and commas between them; inner brackets need none. `open`: what follows, or what is beyond the longest group, would decide. Null: none.
 */
export function numberGroup(text: string): NumberGroup | 'open' | null {
  const end = Math.min(text.length, longestGroup);
  const numbers: number[] = [];
  /** Numbers of each open bracket so far. */
  const open: number[] = [];
  let rows = 0;
  let after: 'bracket' | 'comma' | 'number' | 'group' = 'bracket';
  for (let at = 0; at < end; at += 1) {
    const char = text[at]!;
    if (/\s/.test(char)) continue;
    if (char === '[') {
      open.push(0);
      after = 'bracket';
    } else if (char === ']') {
      if (after === 'bracket' || after === 'comma') return null;
      if (open.pop()! > 1) rows += 1;
      after = 'group';
      if (open.length === 0) return { length: at + 1, numbers, isMatrix: rows > 1 };
    } else if (char === ',') {
      if (after !== 'number' && after !== 'group') return null;
      after = 'comma';
    } else {
      const digits = /^\d{1,4}/.exec(text.slice(at, Math.min(at + 4, end)))?.[0];
      if (digits === undefined || digits.length > 3 || after === 'number') return null;
      numbers.push(Number(digits));
      open.push(open.pop()! + 1);
      after = 'number';
      at += digits.length - 1;
    }
  }
  return 'open';
}
