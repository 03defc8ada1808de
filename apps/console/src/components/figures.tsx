import { useAppearance } from '../shell/appearance.js';

/** A time of the server, in the reader's own time zone or in UTC, with the other one in its title. */
export function Moment({ at, precise = false }: { readonly at: number; readonly precise?: boolean }) {
  const { clock } = useAppearance();
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()} className="figure">
      {momentText(date, clock, precise)}
    </time>
  );
}

export function momentText(date: Date, clock: 'local' | 'utc', precise: boolean): string {
  const text = date.toLocaleString('en-GB', {
    ...(precise ? {} : { day: 'numeric', month: 'short' }),
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    ...(precise ? { fractionalSecondDigits: 3 as const } : {}),
    ...(clock === 'utc' ? { timeZone: 'UTC' } : {}),
  });
  return clock === 'utc' ? `${text} UTC` : text;
}

/** Milliseconds in the unit that is easiest to read. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.round((ms % 60_000) / 1_000);
  if (minutes >= 60) return `${(ms / 3_600_000).toFixed(1)} h`;
  return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`;
}

/** A cost in the currency of the configured prices, with enough digits for small sums. */
export const costText = (cost: number): string => (cost === 0 ? '0' : cost < 0.01 ? cost.toFixed(5) : cost.toFixed(cost < 1 ? 4 : 2));

export const countText = (count: number): string => count.toLocaleString('en-GB');

/** `3 tasks`, `1 task`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${countText(count)} ${count === 1 ? one : many}`;

const units = ['B', 'KB', 'MB', 'GB', 'TB'];
export function bytesText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1_024)));
  const value = bytes / 1_024 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}
