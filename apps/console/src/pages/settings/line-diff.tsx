/** Two texts compared line by line, by their longest common subsequence. */
function linesOf(before: string, after: string): readonly { readonly kind: 'same' | 'gone' | 'new'; readonly text: string }[] {
  const [one, other] = [before.split('\n').slice(0, 600), after.split('\n').slice(0, 600)];
  const longest = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  for (let i = one.length - 1; i >= 0; i -= 1)
    for (let j = other.length - 1; j >= 0; j -= 1)
      longest[i]![j] = one[i] === other[j] ? longest[i + 1]![j + 1]! + 1 : Math.max(longest[i + 1]![j]!, longest[i]![j + 1]!);
  const lines: { kind: 'same' | 'gone' | 'new'; text: string }[] = [];
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      lines.push({ kind: 'same', text: one[i]! });
      i += 1;
      j += 1;
    } else if (j >= other.length || (i < one.length && longest[i + 1]![j]! >= longest[i]![j + 1]!)) {
      lines.push({ kind: 'gone', text: one[i]! });
      i += 1;
    } else {
      lines.push({ kind: 'new', text: other[j]! });
      j += 1;
    }
  }
  return lines;
}

const signs = { same: ' ', gone: '-', new: '+' } as const;

/** The removed and added lines of a change. */
export function LineDiff({ before, after, label }: { readonly before: string; readonly after: string; readonly label: string }) {
  const lines = linesOf(before, after);
  if (lines.every(({ kind }) => kind === 'same')) return <p className="quiet">Nothing would change.</p>;
  return (
    <pre className="settings-diff" role="region" aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, n) => (
        <span key={n} className={`settings-line ${kind}`}>
          {signs[kind]} {text}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}
