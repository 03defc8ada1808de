import type { TimeScale } from './time-scale.js';
import { type DecisionLine, endOf, type WorkLine } from './waterfall-lines.js';

const width = 1_000;
const barHeight = 12;
const behind = 5;
const thinnest = 3;

interface BarProps {
  readonly line: WorkLine | DecisionLine;
  readonly scale: TimeScale;
  readonly now: number;
}

/** One line of the chart. It is decorative for screen readers, because the figures beside it contain the same data. */
export function WaterfallBar({ line, scale, now }: BarProps) {
  const rect = (key: string, kind: string, from: number, to: number, y: number, height: number) => {
    const x = scale.place(from) * width;
    return <rect key={key} className={`bar-${kind}`} x={x} y={y} width={Math.max(thinnest, scale.place(to) * width - x)} height={height} />;
  };
  const lost = line.kind === 'work' ? [...new Set(line.calls.filter((call) => call.superseded).map(({ attempt }) => attempt))] : [];
  const height = 4 + barHeight + lost.length * behind + 4;
  return (
    <svg viewBox={`0 0 ${width} ${height}`} height={height} width="100%" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      {scale.breaks.map(({ from, place }) => (
        <rect key={from} className="bar-break" x={place.from * width} y={0} width={(place.to - place.from) * width} height={height} />
      ))}
      {line.kind === 'decision' ? (
        rect('decision', 'decision', line.at, line.at, 0, height)
      ) : (
        <>
          {lost.flatMap((attempt, n) =>
            line.calls
              .filter((call) => call.superseded && call.attempt === attempt)
              .map((call) => rect(call.id, 'lost', call.startedAt, endOf(call), 4 + (n + 1) * behind, barHeight)),
          )}
          {line.from !== null && (
            <>
              {line.began !== null && line.began > line.from && rect('queue', 'queue', line.from, line.began, 7, barHeight - 6)}
              {rect('work', line.to === null ? 'open' : 'work', line.began ?? line.from, line.to ?? now, 4, barHeight)}
            </>
          )}
          {line.calls
            .filter((call) => !call.superseded)
            .map((call) => rect(call.id, call.status === 'ok' ? 'call' : 'failed', call.startedAt, endOf(call), 7, barHeight - 6))}
        </>
      )}
    </svg>
  );
}
