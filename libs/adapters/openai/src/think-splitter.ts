/** A part of a model's text. */
export interface ThinkPiece {
  readonly kind: 'content' | 'reasoning';
  readonly text: string;
}

const open = '<think>';
const close = '</think>';

/** Length of the longest end of `text` that may be the beginning of `tag`. */
function heldBack(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) if (tag.startsWith(text.slice(-length))) return length;
  return 0;
}

/**
 * Separates `<think>…</think>` from the answer. The chunk boundaries never change the result.
 *
 * Blocks before the answer are passed on as they arrive, without surrounding white space. A tag inside the answer may be a mention
 * of the tag: its text is held until the block closes; if it never closes, tag and text belong to the answer.
 */
export class ThinkSplitter {
  private held = '';
  private state: 'before' | 'thinking' | 'answer' | 'aside' = 'before';
  private sawBlock = false;

  push(text: string): ThinkPiece[] {
    this.held += text;
    const pieces: ThinkPiece[] = [];
    while (this.step(pieces));
    return pieces;
  }

  /** Returns the text still held at the end of the stream. */
  end(): ThinkPiece[] {
    const rest = this.state === 'aside' ? open + this.held : this.held;
    this.held = '';
    if (this.state === 'before' && this.sawBlock && rest.trim() === '') return [];
    return piece(this.state === 'thinking' ? 'reasoning' : 'content', rest);
  }

  /** Consumes what can be decided from the front of `held`; returns false when more text is needed. */
  private step(pieces: ThinkPiece[]): boolean {
    switch (this.state) {
      case 'before':
        return this.beforeAnswer(pieces);
      case 'thinking':
        return this.until(close, 'reasoning', 'before', pieces);
      case 'answer':
        return this.until(open, 'content', 'aside', pieces);
      case 'aside': {
        const at = this.held.indexOf(close);
        if (at < 0) return false;
        pieces.push(...piece('reasoning', this.held.slice(0, at)));
        this.held = this.held.slice(at + close.length);
        this.state = 'answer';
        return true;
      }
    }
  }

  private beforeAnswer(pieces: ThinkPiece[]): boolean {
    const text = this.held.trimStart();
    if (text.startsWith(open)) {
      this.held = text.slice(open.length);
      this.state = 'thinking';
      this.sawBlock = true;
      return true;
    }
    if (open.startsWith(text)) return false;
    if (this.sawBlock) this.held = text;
    this.state = 'answer';
    return this.until(open, 'content', 'aside', pieces);
  }

  private until(tag: string, kind: ThinkPiece['kind'], then: 'before' | 'aside', pieces: ThinkPiece[]): boolean {
    const at = this.held.indexOf(tag);
    const end = at >= 0 ? at : this.held.length - heldBack(this.held, tag);
    pieces.push(...piece(kind, this.held.slice(0, end)));
    this.held = this.held.slice(at >= 0 ? at + tag.length : end);
    if (at >= 0) this.state = then;
    return at >= 0;
  }
}

const piece = (kind: ThinkPiece['kind'], text: string): ThinkPiece[] => (text === '' ? [] : [{ kind, text }]);

/**
 * Some chat templates put the opening tag into the prompt, so that the reply contains only the closing tag. In the whole reply, text before
 * a lone closing tag is thinking. Chunks streamed before it were passed on as answer text.
 */
export function takeUnopenedThinking(content: string): { readonly content: string; readonly reasoning: string } {
  const at = content.indexOf(close);
  const opened = content.indexOf(open);
  if (at < 0 || (opened >= 0 && opened < at)) return { content, reasoning: '' };
  return { content: content.slice(at + close.length).trimStart(), reasoning: content.slice(0, at).trim() };
}
