import { describe, expect, it } from '@jest/globals';
import { WebhookEvent, type RunCompleted } from '@conclave/contracts';
import { ended, endedAt } from './__fixtures__/ended.js';
import { bodyOf, longestMessage, type BodyOptions } from './bodies.js';

const usual: BodyOptions = { preset: 'json', maxBytes: 1_000_000, withQuestion: true };
const of = (over: Partial<RunCompleted['data']> = {}, options: Partial<BodyOptions> = {}): unknown =>
  JSON.parse(bodyOf(ended(over), { ...usual, ...options }));
const event = (...args: Parameters<typeof of>): WebhookEvent => WebhookEvent.parse(of(...args));

describe('the body of our own format', () => {
  it('contains the end of the run under the names of its view, and nothing else', () => {
    expect(of()).toEqual({
      type: 'run.completed',
      timestamp: '2026-03-10T12:00:00.000Z',
      data: {
        id: 'run_00000001',
        template: { id: 'conclave', version: 'v1', strategy: 'agentic' },
        ...{ outcome: 'completed', rule: 'D3', reason: 'Nothing was missing.', reasonCode: 'sufficient' },
        ...{ question: 'Who wrote Hamlet?', answer: 'Shakespeare [1].', cutShort: false, truncated: false, failure: null },
        sources: [{ kind: 'web', title: 'A page', url: 'https://example.org/hamlet', n: 1 }],
        usage: { calls: 0, prompt: 0, completion: 0, reasoning: 0, cost: 0, estimated: false },
        ...{ startedAt: endedAt - 2_000, completedAt: endedAt },
      },
    });
  });

  it('shows by its type whether there is an answer', () => {
    expect(event({ outcome: 'limit_reached' }).type).toBe('run.completed');
    const failure = { code: 'RUN_FAILED', message: 'It failed.', retriable: true };
    expect(event({ outcome: 'failed', answer: null, failure })).toMatchObject({ type: 'run.failed', data: { failure } });
    expect(event({ outcome: 'cancelled', answer: null })).toMatchObject({ type: 'run.cancelled', data: { answer: null } });
  });

  it('contains the question only when prompts are stored in full', () => {
    expect(event({}, { withQuestion: false }).data.question).toBeNull();
    expect(bodyOf(ended(), { ...usual, withQuestion: false })).not.toContain('Hamlet?');
  });

  it.each(['a', 'ü', '🦁', '"', '\n'])(
    'has a maximum size: without the sources, then with an answer cut between characters (%j)',
    (character) => {
      const maxBytes = 4_096;
      const text = bodyOf(ended({ answer: character.repeat(50_000) }), { ...usual, maxBytes });
      const { data } = WebhookEvent.parse(JSON.parse(text));
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      expect(Buffer.byteLength(text)).toBeGreaterThan(maxBytes - 20);
      expect(data).toMatchObject({ sources: [], truncated: true });
      expect(data.answer).toMatch(/…$/);
      expect(data.answer).not.toMatch(/\p{Surrogate}/u);
      const page = { kind: 'web' as const, title: 'T'.repeat(100), url: null };
      const short = event({ sources: Array.from({ length: 100 }, () => page) }, { maxBytes });
      expect(short.data).toMatchObject({ answer: 'Shakespeare [1].', sources: [], truncated: true });
    },
  );
});

// The members are those of https://core.telegram.org/bots/api#sendmessage and https://docs.discord.com/developers/resources/webhook#execute-webhook.
describe('the body of a chat message', () => {
  const telegram = { preset: 'telegram', chatId: '-100200' } as const;
  const discord = { preset: 'discord' } as const;
  const said = 'Who wrote Hamlet?\n\nShakespeare [1].\n\nrun_00000001';

  it('is that of sendMessage for Telegram, and of an executed webhook for Discord, with mentions switched off', () => {
    expect(of({}, telegram)).toEqual({ chat_id: '-100200', text: said, link_preview_options: { is_disabled: true } });
    expect(of({}, discord)).toEqual({ content: said, allowed_mentions: { parse: [] } });
  });

  it('says why there is no answer, or only a partial one', () => {
    const failed = { outcome: 'failed', answer: null, reason: 'No model answered.' } as const;
    expect(of(failed, discord)).toMatchObject({ content: 'Who wrote Hamlet?\n\nNo answer (failed). No model answered.\n\nrun_00000001' });
    const partial = { outcome: 'limit_reached', reason: 'The time was over.' } as const;
    expect(of(partial, { ...telegram, withQuestion: false })).toMatchObject({
      text: 'Shakespeare [1].\n\n(limit_reached: The time was over.)\n\nrun_00000001',
    });
  });

  it.each([
    ['telegram', 4_096],
    ['discord', 2_000],
  ] as const)('is no longer than %s accepts (%d characters), and is cut between characters', (preset, longest) => {
    expect(longestMessage[preset]).toBe(longest);
    for (const answer of ['x'.repeat(longest * 3), '🦁'.repeat(longest), `y${'🦁'.repeat(longest)}`]) {
      const body = of({ answer, question: 'Q '.repeat(9_000), reason: 'R '.repeat(9_000), outcome: 'stuck' }, { preset, chatId: '1' });
      const text = (body as { text?: string; content?: string })[preset === 'telegram' ? 'text' : 'content']!;
      expect(text.length).toBeLessThanOrEqual(longest);
      expect(text.length).toBeGreaterThan(longest - 3);
      expect(text).not.toMatch(/\p{Surrogate}/u);
      expect(text).toMatch(/run_00000001$/);
    }
  });
});
