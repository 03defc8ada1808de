import type { RunView } from '@conclave/contracts';
import { Link } from '@tanstack/react-router';
import { Badge } from '../components/page.js';
import { outcomes } from './outcome-words.js';
import type { LiveRun } from './run-fold.js';

/** One sentence about why the run stopped, with the rule and its numbers, the rules that did not end it, and a link to the deciding event. */
export function WhyStopped({
  runId,
  run,
  record,
}: {
  readonly runId: string;
  readonly run: LiveRun;
  readonly record: RunView | undefined;
}) {
  const outcome = run.end?.outcome ?? record?.outcome;
  if (!outcome) return null;
  const rule = run.end?.rule ?? record?.rule ?? null;
  const [word, tone] = outcomes[outcome] ?? [outcome, 'plain'];
  const deciding = run.decisions.at(-1);
  const event = deciding && deciding.rule === rule ? deciding.seq : run.end?.id;
  const others = record?.otherRules ?? [];
  return (
    <div className="why" role="status">
      <p>
        <Badge tone={tone}>{word}</Badge> <span className="why-reason">{run.end?.reason ?? record?.reason}</span>{' '}
        {rule && (
          <span className="quiet" title="row of the table of decisions that ends runs">
            rule <code>{rule}</code>
          </span>
        )}{' '}
        {event !== undefined && (
          <Link to="/console/runs/$runId" params={{ runId } as never} search={{ seq: event } as never}>
            event {event}
          </Link>
        )}
      </p>
      {others.length > 0 && (
        <details>
          <summary>Rules that did not end it</summary>
          <ul className="why-others">
            {others.map((other) => (
              <li key={other.rule}>
                <code>{other.rule}</code> {other.sentence}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
