import { useMemo } from 'react';
import { Panel } from '../../components/page.js';
import { withoutSourceList } from '../../run/markdown-blocks.js';
import { type DiffPart, wordDiff } from '../../run/word-diff.js';

interface AnswersProps {
  readonly left: string;
  readonly right: string;
  readonly isOver: boolean;
}

/** Most words of either text that are compared; the rest of a longer answer follows unmarked. */
const comparedWords = 400;
const restOf = (text: string): string => text.split(/\s+/).filter(Boolean).slice(comparedWords).join(' ');

/** Both answers; once both are complete, the words that occur in only one of them are marked. */
export function Answers({ left, right, isOver }: AnswersProps) {
  const [one, other] = [withoutSourceList(left), withoutSourceList(right)];
  const parts = useMemo(() => (isOver ? wordDiff(one, other) : null), [isOver, one, other]);
  return (
    <div className="compare-answers">
      {(['gone', 'new'] as const).map((own, n) => {
        const text = own === 'gone' ? one : other;
        return (
          <Panel key={own} title={n === 0 ? 'First answer' : 'Second answer'}>
            {text === '' ? (
              <p className="quiet">{isOver ? 'There is no answer.' : 'Nothing is written yet.'}</p>
            ) : (
              <p className="compare-answer" data-side={own === 'gone' ? 'left' : 'right'}>
                {parts ? <Marked parts={parts} own={own} rest={restOf(text)} /> : text}
              </p>
            )}
          </Panel>
        );
      })}
    </div>
  );
}

function Marked({ parts, own, rest }: { readonly parts: readonly DiffPart[]; readonly own: DiffPart['kind']; readonly rest: string }) {
  const Mark = own === 'gone' ? 'del' : 'ins';
  return (
    <>
      {parts.map(({ kind, text }, n) =>
        kind === 'same' ? <span key={n}>{text} </span> : kind === own ? <Mark key={n}>{text} </Mark> : null,
      )}
      {rest}
    </>
  );
}
