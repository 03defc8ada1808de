import type { RunCompleted, WebhookPreset } from '@conclave/contracts';
import type { WebhookEvent } from '@conclave/contracts';

/** Characters of one message; longer ones are refused (Telegram `sendMessage`, Discord "Execute Webhook"). */
export const longestMessage = { telegram: 4_096, discord: 2_000 } as const;
/** Characters of the question in the first line of a message. */
const longestQuestion = 200;

export interface BodyOptions {
  readonly preset: WebhookPreset;
  /** Chat of a telegram message. */
  readonly chatId?: string | undefined;
  /** Largest body, bytes. */
  readonly maxBytes: number;
  /** Whether the question may be sent along with the answer. */
  readonly withQuestion: boolean;
}

/** The end of a run as it is sent, as JSON. */
export function bodyOf(event: RunCompleted, { preset, chatId, maxBytes, withQuestion }: BodyOptions): string {
  switch (preset) {
    case 'telegram':
      return JSON.stringify({
        chat_id: chatId,
        text: message(event, longestMessage.telegram, withQuestion),
        link_preview_options: { is_disabled: true },
      });
    case 'discord':
      // An answer that contains `@everyone` must not notify anyone.
      return JSON.stringify({ content: message(event, longestMessage.discord, withQuestion), allowed_mentions: { parse: [] } });
    case 'json':
      return within(maxBytes, webhookEvent(event, withQuestion));
  }
}

const types: Readonly<Partial<Record<RunCompleted['data']['outcome'], WebhookEvent['type']>>> = {
  failed: 'run.failed',
  cancelled: 'run.cancelled',
};

function webhookEvent({ runId, data }: RunCompleted, withQuestion: boolean): WebhookEvent {
  const { outcome, rule, reason, reasonCode, question, answer, cutShort, sources, usage, failure, template, startedAt, completedAt } = data;
  return {
    type: types[outcome] ?? 'run.completed',
    timestamp: new Date(completedAt).toISOString(),
    data: {
      id: runId,
      template: { id: template.id, version: template.version, strategy: template.strategy },
      ...{ outcome, rule, reason, reasonCode, question: withQuestion ? question : null, answer, cutShort, truncated: false },
      ...{ sources, usage, failure, startedAt, completedAt },
    },
  };
}

/** The event as JSON of at most this many bytes: without the sources, then with a cut answer. */
function within(maxBytes: number, event: WebhookEvent): string {
  const sizeOf = (one: WebhookEvent): number => Buffer.byteLength(JSON.stringify(one));
  if (sizeOf(event) <= maxBytes) return JSON.stringify(event);
  const whole = event.data.answer ?? '';
  const question = event.data.question === null ? null : cut(event.data.question, longestQuestion);
  const of = (answer: string): WebhookEvent => ({
    ...event,
    data: { ...event.data, sources: [], question, answer: event.data.answer === null ? null : answer, truncated: true },
  });
  let fits = 0;
  let over = whole.length + 1;
  while (over - fits > 1) {
    const middle = Math.floor((fits + over) / 2);
    if (sizeOf(of(cut(whole, middle))) <= maxBytes) fits = middle;
    else over = middle;
  }
  return JSON.stringify(of(cut(whole, fits)));
}

function message({ runId, data }: RunCompleted, longest: number, withQuestion: boolean): string {
  const { outcome, answer, reason, question } = data;
  const head = withQuestion ? `${cut(question.replace(/\s+/g, ' ').trim(), longestQuestion)}\n\n` : '';
  const said = answer ?? `No answer (${outcome}). ${reason}`;
  const note = answer !== null && outcome !== 'completed' ? `\n\n(${outcome}: ${reason})` : '';
  const tail = `${cut(note, 500)}\n\n${runId}`;
  return `${head}${cut(said, longest - head.length - tail.length)}${tail}`;
}

/** The beginning of a text, at most this many UTF-16 units, without splitting a character. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  if (most < 1) return '';
  const end = /[\uD800-\uDBFF]/.test(text.charAt(most - 2)) ? most - 2 : most - 1;
  return `${text.slice(0, Math.max(0, end))}…`;
}
