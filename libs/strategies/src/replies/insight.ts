import { Insight, promptMarks } from '@conclave/contracts';
import * as z from 'zod';
import { isEcho } from '../prompts/echoes.js';
import { jsonIn } from './json-reply.js';

const open = promptMarks.insight.open;
const close = promptMarks.insight.close;

/** Length of the longest suffix of `text` that may begin `tag`. */
function heldBack(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) if (tag.startsWith(text.slice(-length))) return length;
  return 0;
}

/**
 * Removes the insight block from streamed text, wherever the chunks are cut. `push` returns what may be shown; `end` returns the rest
 * and the block's content (null without a block). An unclosed block is not shown.
 */
export class InsightFilter {
  private held = '';
  private block: string | null = null;
  private inside = false;

  push(text: string): string {
    this.held += text;
    let shown = '';
    for (;;) {
      const tag = this.inside ? close : open;
      const at = this.held.indexOf(tag);
      if (at >= 0) {
        if (this.inside) this.block = (this.block ?? '') + this.held.slice(0, at);
        else shown += this.held.slice(0, at);
        this.held = this.held.slice(at + tag.length);
        this.inside = !this.inside;
        continue;
      }
      const keep = heldBack(this.held, tag);
      const ready = this.held.slice(0, this.held.length - keep);
      if (this.inside) this.block = (this.block ?? '') + ready;
      else shown += ready;
      this.held = this.held.slice(this.held.length - keep);
      return shown;
    }
  }

  /** Safe to call twice: text is returned once. A tag cut off by a token limit is not shown; a lone `<` is text. */
  end(): { readonly shown: string; readonly block: string | null } {
    const { held } = this;
    this.held = '';
    if (this.inside) this.block = (this.block ?? '') + held;
    return { shown: this.inside || held.length > 1 ? '' : held, block: this.block };
  }
}

export type InsightReading = { readonly insight: Insight | null; readonly rejected: string | null };

/** Validates the content of the block; an invalid one is reported and dropped, the answer stays. */
export function readInsight(block: string | null): InsightReading {
  if (block === null) return { insight: null, rejected: null };
  const value = jsonIn(block);
  if (value === undefined) return { insight: null, rejected: 'The block is not JSON.' };
  const parsed = Insight.safeParse(value);
  if (!parsed.success) return { insight: null, rejected: z.prettifyError(parsed.error) };
  if (isEcho(parsed.data.summary)) return { insight: null, rejected: 'The block only repeats the words of its form.' };
  return { insight: parsed.data, rejected: null };
}
