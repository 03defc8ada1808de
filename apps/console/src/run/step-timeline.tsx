import type { RunView } from '@conclave/contracts';
import { Badge } from '../components/page.js';
import type { LiveRun, LiveTask } from './run-fold.js';
import { capabilityText, stateOf } from './task-words.js';

/** Steps of a step-by-step run: each executed step with its score, the trend, the planned steps, and the working memory. */
export function StepTimeline({ run, record }: { readonly run: LiveRun; readonly record: RunView }) {
  const steps = record.steps!;
  const own = new Set(steps.done);
  const done = [...run.tasks.values()].filter(({ id }) => own.has(id));
  const texts = new Map(record.rounds.flatMap(({ tasks }) => tasks.map(({ id, task }) => [id, task])));
  const scores = done.flatMap(({ score }) => (score ? [score.mean] : []));
  const shown = scores.length > 0 ? scores : steps.scores;
  const ahead = record.terminal ? [] : steps.ahead;
  return (
    <section className="stack" aria-label="Steps">
      <header className="page-head">
        <h3>Steps</h3>
        {shown.length > 0 && <Trend scores={shown} />}
      </header>
      <ol className="steps">
        {done.map((task) => (
          <Step key={task.id} task={task} text={texts.get(task.id) ?? task.text} />
        ))}
        {ahead.map(({ capability, input, reason }, n) => (
          <li key={`${n} ${input}`} className="step ghost" data-state="planned">
            <p className="row">
              <strong>{capabilityText(capability)}</strong> <Badge>planned</Badge>
            </p>
            <p>{input}</p>
            {reason && <p className="quiet">{reason}</p>}
          </li>
        ))}
      </ol>
      <details open={!record.terminal}>
        <summary>Working memory</summary>
        <p className="memory" tabIndex={0} role="region" aria-label="Working memory">
          {steps.memory || 'Nothing is stored yet.'}
        </p>
      </details>
    </section>
  );
}

function Step({ task, text }: { readonly task: LiveTask; readonly text: string }) {
  const [word, tone] = stateOf(task);
  return (
    <li className={`step ${tone}`} data-state={task.state}>
      <p className="row">
        <strong>{capabilityText(task.capability)}</strong> <Badge tone={tone}>{word}</Badge>
        {task.score && (
          <Badge tone={task.score.quality === 'good' ? 'good' : task.score.quality === 'partial' ? 'warn' : 'bad'}>
            {task.score.mean.toFixed(2)} of 5, {task.score.quality}
          </Badge>
        )}
      </p>
      <p>{text}</p>
      {task.summary !== '' && <p className="quiet step-summary">{task.summary}</p>}
    </li>
  );
}

const width = 120;
const height = 28;

/** Means of the scores as a line from 1 to 5, and their trend in words. */
function Trend({ scores }: { readonly scores: readonly number[] }) {
  const [last = 0, before] = [scores.at(-1), scores.at(-2)];
  const word = before === undefined ? 'first score' : last > before ? 'rising' : last < before ? 'falling' : 'level';
  const x = (n: number): number => 4 + (scores.length === 1 ? 0 : (n / (scores.length - 1)) * (width - 8));
  const y = (score: number): number => height - 4 - ((score - 1) / 4) * (height - 8);
  return (
    <span className="row trend" data-trend={word}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={`Scores: ${scores.map((score) => score.toFixed(2)).join(', ')}`}
      >
        <polyline points={scores.map((score, n) => `${x(n)},${y(score)}`).join(' ')} />
        {scores.map((score, n) => (
          <circle key={n} cx={x(n)} cy={y(score)} r="2.5" />
        ))}
      </svg>
      <span className="quiet">
        {last.toFixed(2)} of 5, {word}
      </span>
    </span>
  );
}
