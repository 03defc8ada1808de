export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** A time axis without long idle times: they are drawn as short breaks. */
export interface TimeScale {
  /** Position of a time, 0 to 1. */
  readonly place: (at: number) => number;
  readonly breaks: readonly (TimeSpan & { readonly place: TimeSpan })[];
  readonly from: number;
  readonly to: number;
}

/** An idle time is compressed if it is longer than this, and than this fraction of the busy time. */
const longestIdleMs = 2_000;
const idlePart = 0.25;
const breakPart = 0.03;

function merged(spans: readonly TimeSpan[]): TimeSpan[] {
  const inOrder = [...spans].sort((one, other) => one.from - other.from);
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of inOrder) {
    const last = result.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

export function timeScale(spans: readonly TimeSpan[]): TimeScale {
  const busy = merged(spans.filter(({ from, to }) => to >= from));
  const from = busy[0]?.from ?? 0;
  const to = Math.max(from + 1, busy.at(-1)?.to ?? 0);
  const busyMs = Math.max(
    1,
    busy.reduce((sum, span) => sum + span.to - span.from, 0),
  );
  const longest = Math.max(longestIdleMs, busyMs * idlePart);
  const breakMs = busyMs * breakPart;
  // Segments of the axis: each has a length in time and a drawn length in milliseconds.
  const pieces: (TimeSpan & { readonly drawn: number; readonly start: number; readonly idle: boolean })[] = [];
  let at = from;
  let drawn = 0;
  const piece = (end: number, idle: boolean): void => {
    if (end <= at) return;
    const length = idle ? breakMs : end - at;
    pieces.push({ from: at, to: end, drawn: length, start: drawn, idle });
    at = end;
    drawn += length;
  };
  busy.forEach((span) => {
    if (span.from - at > longest) piece(span.from, true);
    piece(span.to, false);
  });
  piece(to, false);
  const total = Math.max(1, drawn);
  const place = (moment: number): number => {
    const inside = pieces.find((one) => moment <= one.to) ?? pieces.at(-1);
    if (!inside) return 0;
    const part = (Math.min(inside.to, Math.max(inside.from, moment)) - inside.from) / (inside.to - inside.from);
    return (inside.start + part * inside.drawn) / total;
  };
  return {
    place,
    from,
    to,
    breaks: pieces
      .filter(({ idle }) => idle)
      .map((one) => ({ from: one.from, to: one.to, place: { from: one.start / total, to: (one.start + one.drawn) / total } })),
  };
}
