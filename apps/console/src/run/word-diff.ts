export interface DiffPart {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/** Two short texts compared word by word: words outside the longest common subsequence are removed or added. */
export function wordDiff(before: string, after: string): readonly DiffPart[] {
  const one = before.split(/\s+/).filter(Boolean).slice(0, 400);
  const other = after.split(/\s+/).filter(Boolean).slice(0, 400);
  const longest = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  for (let i = one.length - 1; i >= 0; i -= 1)
    for (let j = other.length - 1; j >= 0; j -= 1)
      longest[i]![j] = one[i] === other[j] ? longest[i + 1]![j + 1]! + 1 : Math.max(longest[i + 1]![j]!, longest[i]![j + 1]!);
  const parts: { kind: DiffPart['kind']; text: string }[] = [];
  const add = (kind: DiffPart['kind'], word: string): void => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += ` ${word}`;
    else parts.push({ kind, text: word });
  };
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      add('same', one[i]!);
      i += 1;
      j += 1;
    } else if (j >= other.length || (i < one.length && longest[i + 1]![j]! >= longest[i]![j + 1]!)) {
      add('gone', one[i]!);
      i += 1;
    } else {
      add('new', other[j]!);
      j += 1;
    }
  }
  return parts;
}
