import type { Usage } from '@conclave/contracts';
import type { ModelReply } from '@conclave/ports';
import { WithoutCopies, withoutCopies } from './prompt-copy.js';
import { Repetition } from './repetition.js';

/** Why a call was ended before its reply was. */
type Cut = Extract<ModelReply['finishReason'], 'length' | 'repetition'>;

/**
 * The text of a reply as it arrives: shown to `onContent`, and cut where it is longer than `mostTokens` or repeats itself for `repetitionLimit`
 * characters, or a quarter of them in JSON of a form. Any other text is heard without what it copies from its prompt.
 */
export class HeardReply {
  /** Null until it is cut. */
  cut: Cut | null = null;
  /** All that arrived. */
  arrived = '';
  private content = '';
  private reasoning = '';
  /** What `onContent` got. */
  private shown = '';
  private tokens = 0;
  private readonly copies: WithoutCopies | null;
  private readonly inContent: Repetition;
  private readonly inReasoning: Repetition;
  /** A copy that begins again and again, which `inContent` does not hear. */
  private inCopies: Repetition | null = null;

  constructor(
    private readonly mostTokens: number,
    private readonly repetitionLimit: number,
    private readonly onContent: ((text: string) => void) | undefined,
    private readonly prompt: () => string,
    isForm = false,
  ) {
    this.copies = isForm ? null : new WithoutCopies(prompt);
    this.inContent = new Repetition(repetitionLimit, isForm);
    this.inReasoning = new Repetition(repetitionLimit);
  }

  push({ content = '', reasoning = '' }: { readonly content?: string; readonly reasoning?: string }): void {
    this.arrived += content + reasoning;
    this.reasoning += reasoning;
    this.tokens += (content.length + reasoning.length) / 4;
    this.hear(this.copies?.push(content) ?? content);
    this.inReasoning.push(reasoning);
    if (this.copies && this.copies.removed > 0) (this.inCopies ??= new Repetition(this.repetitionLimit)).push(content);
    if (this.repeated > 0) this.cut = 'repetition';
    else if (this.tokens > this.mostTokens) this.cut = 'length';
  }

  /** Shows what was held back. */
  end(): void {
    this.hear(this.copies?.end() ?? '');
    this.show(this.inContent.end());
  }

  /** A reply that was not cut, without copies of its prompt, and how many characters of these were left out. */
  whole(reply: ModelReply): { readonly reply: ModelReply; readonly removed: number } {
    const content = this.copies ? withoutCopies(reply.content, this.prompt) : reply.content;
    const removed = reply.content.length - content.length;
    return { reply: removed > 0 ? { ...reply, content } : reply, removed };
  }

  /**
   * The reply of a call that was cut: shown text as it was shown, other text up to the end of what it began to repeat. `usage` is that of all
   * text, `tookMs` in milliseconds.
   */
  cutShort(usage: Usage, tookMs: number): ModelReply {
    this.end();
    return {
      content: this.onContent ? this.shown : upTo(this.content, this.inContent),
      reasoning: upTo(this.reasoning, this.inReasoning),
      ...{ finishReason: this.cut ?? 'length', usage, reportedModel: null, firstTokenMs: null, durationMs: Math.round(tookMs) },
      ...(this.repeated > 0 ? { repeated: this.repeated } : {}),
    };
  }

  /** Characters that were repeated when it was cut for that; otherwise 0. */
  private get repeated(): number {
    return this.inContent.found || this.inReasoning.found || (this.inCopies?.found ?? 0);
  }

  private hear(text: string): void {
    if (text === '') return;
    this.content += text;
    this.show(this.inContent.push(text));
  }

  private show(text: string): void {
    if (text === '') return;
    this.shown += text;
    this.onContent?.(text);
  }
}

const upTo = (text: string, { found, keep }: Repetition): string => (found > 0 ? text.slice(0, keep) : text);
