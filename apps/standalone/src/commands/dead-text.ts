import type { DeadLetterItem, DeadLetterList, DeadLetterSettled, DeadLetterSettlement, DeadLetterView } from '@conclave/contracts';
import { short } from '@conclave/platform';
import { commandPrefix } from './typed.js';

/** Characters of a value shown on the terminal; `--raw` prints all of it. */
const shownText = 4_000;
const shownBytes = 256;

const time = (at: number): string => new Date(at).toISOString().replace('T', ' ').slice(0, 19);
const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
const decided = ({ action, actor, at, note }: DeadLetterSettlement): string =>
  `${action} by ${short(actor, 80)} at ${time(at)} UTC${note ? `: ${short(note, 200)}` : ''}`;

/** A table of dead letters, with hints on what to do. */
export function listText({ data, total, nextBefore }: DeadLetterList, where: string, all: boolean): string {
  if (total === 0) return `No ${all ? '' : 'open '}dead letters in ${where}.\n`;
  const head = ['ID', 'DIED (UTC)', 'REASON', 'GROUP', 'TOPIC', 'EVENT', 'RUN'];
  const rows = data.map((letter) => [
    letter.id,
    time(letter.diedAt),
    short(letter.reason, 16),
    short(letter.group ?? '?', 24),
    short(letter.topic ?? '?', 32),
    short(letter.type ?? '?', 20),
    short(letter.runId ?? '?', 40),
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [
    `${count(total, all ? 'dead letter' : 'open dead letter')} in ${where}, newest first`,
    '',
    line(head),
    ...data.flatMap((letter, row) => [line(rows[row]!), ...about(letter).map((text) => `${' '.repeat(widths[0]! + 2)}${text}`)]),
    '',
    ...(nextBefore ? [`The next page: ${commandPrefix} dead list${all ? ' --all' : ''} --before ${nextBefore}`] : []),
    `One of them:   ${commandPrefix} dead show ${data[0]?.id ?? '<id>'}`,
    '',
  ].join('\n');
}

const about = ({ error, settled }: DeadLetterItem): string[] => [
  ...(error ? [short(error, 160)] : []),
  ...(settled ? [decided(settled)] : []),
];

/** One dead letter: its origin, why it is dead, the effects, its headers and its value. */
export function letterText(letter: DeadLetterView): string {
  const { attempts, headers, raw, settlements } = letter;
  const rows: (readonly [string, string])[] = [
    ['From', `${short(letter.record ?? 'nowhere known', 200)}, group ${short(letter.group ?? 'unknown', 80)}`],
    ['Why', `${short(letter.reason, 40)}${letter.error ? `: ${short(letter.error, 400)}` : ''}`],
    ['Died', `${time(letter.diedAt)} UTC${attempts === null ? '' : `, after ${count(attempts, 'attempt')}`}`],
    ['Event', letter.type ? short(`${letter.type} ${letter.eventId ?? ''}`, 200) : 'not named in its headers'],
    ...(letter.runId ? ([['Run', short(letter.runId, 80)]] as const) : []),
    ...(letter.redriveOf ? ([['Re-drive', `of the letter ${short(letter.redriveOf, 40)}`]] as const) : []),
    ...settlements.map((settlement) => ['Decided', decided(settlement)] as const),
    ...letter.effects.map((sentence) => ['Effect', sentence] as const),
  ];
  const width = Math.max(0, ...Object.keys(headers).map((name) => Math.min(40, name.length)));
  return [
    `Dead letter ${letter.id}, ${letter.settled ? letter.settled.action : 'open'}`,
    ...rows.map(([name, text]) => `  ${name.padEnd(8)}  ${text}`),
    '',
    'Headers',
    ...Object.entries(headers).map(([name, value]) => `  ${short(name, 40).padEnd(width)}  ${short(value, 300)}`),
    '',
    ...valueText(letter),
    '',
    ...(letter.settled === null
      ? [`Handle it again: ${commandPrefix} dead redrive ${letter.id}      Put it away: ${commandPrefix} dead discard ${letter.id}`, '']
      : []),
  ].join('\n');

  function valueText({ bytes }: DeadLetterView): string[] {
    if (raw.text !== null) {
      const cut = raw.text.length > shownText;
      return [
        `Value, ${count(bytes, 'byte')} of text${cut ? `, the first ${shownText} characters (all of it: --raw)` : ''}`,
        ...visible(raw.text.slice(0, shownText))
          .split('\n')
          .map((line) => `  ${line}`),
      ];
    }
    const value = Buffer.from(raw.base64, 'base64');
    const cut = value.length > shownBytes;
    return [
      `Value, ${count(bytes, 'byte')} that are not text${cut ? `, the first ${shownBytes} (all of it: --raw)` : ''}`,
      ...hexLines(value.subarray(0, shownBytes)),
    ];
  }
}

/** Escapes terminal control characters; keeps line ends. */
const visible = (text: string): string =>
  text.replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, (sign) => `\\u${sign.codePointAt(0)!.toString(16).padStart(4, '0')}`);

const hexLines = (bytes: Buffer): string[] =>
  Array.from({ length: Math.ceil(bytes.length / 16) }, (_, row) => {
    const part = [...bytes.subarray(row * 16, row * 16 + 16)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    return `  ${(row * 16).toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${text}`;
  });

/** What was done with a dead letter, and what that can and cannot change. */
export function settledText({ letter, effects }: DeadLetterSettled): string {
  const done =
    letter.settled?.action === 'redriven'
      ? `Letter ${letter.id} was published again on ${short(letter.topic ?? '?', 80)} for the group ${short(letter.group ?? '?', 80)} alone.`
      : `Letter ${letter.id} was discarded; it stays on the log until its retention ends.`;
  return `${[done, ...effects.map((sentence) => `  ${sentence}`)].join('\n')}\n`;
}
