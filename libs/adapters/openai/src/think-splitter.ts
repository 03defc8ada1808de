/** A part of a model's text. */
export interface ThinkPiece {
  readonly kind: 'content' | 'reasoning';
  readonly text: string;
}

/** How models mark a block of thinking before their answer. The first form is the usual one; only it is recognised inside an answer too. */
const blocks = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'], // distilled and fine-tuned models
  ['<thought>', '</thought>'], // Gemini's OpenAI endpoint, EXAONE
  ['<reasoning>', '</reasoning>'],
  ['<reason>', '</reason>'],
  ['[think]', '[/think]'], // Magistral
  ['<seed:think>', '</seed:think>'], // Seed-OSS
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['◁think▷', '◁/think▷'], // Kimi
  ['<|channel>thought', '<channel|>'], // Gemma 4
  // gpt-oss, whose channels a server shows as they are
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
  ['<|start|>assistant<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
] as const;
const [[open, close]] = blocks;

/** What gpt-oss writes before an answer without thinking. */
const leads = ['<|channel|>final<|message|>', '<|start|>assistant<|channel|>final<|message|>'] as const;

/** Signs of the end of a turn, which a server with the wrong chat template does not remove from the end of an answer. */
const turnEnds = [
  '<|im_end|>',
  '<|eot_id|>',
  '<|end|>',
  '<|return|>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<|end_of_turn|>',
  '<end_of_turn>',
  '<|eom_id|>', // Llama 3.1
  '<|eot|>', // Llama 4
  '<｜end▁of▁sentence｜>', // DeepSeek
] as const;

const patterns = new Map(blocks.flat().map((tag) => [tag as string, new RegExp(tag.replace(/[[\]|/]/g, '\\$&'), 'i')]));
const opened: readonly string[] = [...blocks.map(([tag]) => tag), ...leads];
/** Characters at the beginning of a reply in which thinking may open. */
const longestBeginning = 200;

/** Position of a tag in a text, in any case; -1 if it does not occur. Not counted in lower case, where some letters are longer. */
const find = (text: string, tag: string): number => text.search(patterns.get(tag)!);
const startsWith = (text: string, tag: string): boolean => text.slice(0, tag.length).toLowerCase() === tag;

/** Length of the longest end of `text` that may be the beginning of `tag`. */
function heldBack(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1)
    if (startsWith(tag, text.slice(-length).toLowerCase())) return length;
  return 0;
}

/** Length of the sign of the end of a turn at the end of `text`, with the white space after it; 0 if there is none. */
function turnEnd(text: string): number {
  const bare = text.trimEnd();
  const sign = turnEnds.find((one) => bare.endsWith(one));
  return sign === undefined ? 0 : text.length - bare.length + sign.length;
}

/** Length of the end of `text` that is, or may become, such a sign. */
const mayEndTurn = (text: string): number => turnEnd(text) || Math.max(...turnEnds.map((sign) => heldBack(text, sign)));

/**
 * Separates thinking, such as `<think>…</think>`, from the answer. The chunk boundaries never change the result.
 *
 * Blocks before the answer are passed on as they arrive, without surrounding white space. A tag inside the answer may be a mention
 * of the tag: its text is held until the block closes; if it never closes, tag and text belong to the answer.
 *
 * `unopened`: the reply is expected to begin with thinking whose opening tag was in the prompt. Then everything before the first closing tag
 * is thinking, and held until that tag comes; without one, all of it is the answer.
 */
export class ThinkSplitter {
  private held = '';
  /** The end of `held` in which the closing tag was not looked for yet: what is held may be long, and arrives in small chunks. */
  private fresh = '';
  /** Blanks before the first text, which belong to an answer without thinking. */
  private blanks = '';
  private state: 'unopened' | 'before' | 'thinking' | 'answer' | 'aside';
  private sawBlock = false;
  /** Whether the beginning of the reply was read, and opens no thinking. */
  private opensElsewhere = false;
  /** Whether the reply began with thinking that was opened in the prompt; seen only if it was expected. */
  closedUnopened = false;
  /** Closing tag of the block that is open. */
  private closing: string = close;

  constructor(unopened = false) {
    this.state = unopened ? 'unopened' : 'before';
  }

  push(text: string): ThinkPiece[] {
    this.held += text;
    this.fresh += text;
    const pieces: ThinkPiece[] = [];
    while (this.step(pieces));
    return pieces;
  }

  /** The server sends the thinking of this reply beside its text, so that what is held is the answer. */
  separated(): ThinkPiece[] {
    if (this.state !== 'unopened') return [];
    this.state = 'before';
    return this.push('');
  }

  /** Returns the text still held at the end of the stream. */
  end(): ThinkPiece[] {
    // An ordinary reply after all.
    if (this.state === 'unopened') return [...this.separated(), ...this.end()];
    const before = this.state === 'aside' ? open : this.state === 'before' && !this.sawBlock ? this.blanks : '';
    const rest = before + this.held;
    [this.held, this.blanks] = ['', ''];
    if (this.state === 'before' && this.sawBlock && rest.trim() === '') return [];
    if (this.state === 'thinking') return piece('reasoning', rest);
    return piece('content', this.state === 'answer' ? rest.slice(0, rest.length - turnEnd(rest)) : rest);
  }

  /** Consumes what can be decided from the front of `held`; returns false when more text is needed. */
  private step(pieces: ThinkPiece[]): boolean {
    switch (this.state) {
      case 'unopened':
        return this.beforeClosing(pieces);
      case 'before':
        return this.beforeAnswer(pieces);
      case 'thinking':
        return this.until(this.closing, 'reasoning', 'before', pieces);
      case 'answer':
        return this.until(open, 'content', 'aside', pieces);
      case 'aside':
        return this.closed('answer', pieces);
    }
  }

  /** Passes on as thinking what is held before the first closing tag; false without one. */
  private closed(then: 'answer' | 'before', pieces: ThinkPiece[]): boolean {
    const found = find(this.fresh, close);
    if (found < 0) {
      this.fresh = this.fresh.slice(1 - close.length);
      return false;
    }
    const at = this.held.length - this.fresh.length + found;
    pieces.push(...piece('reasoning', this.held.slice(0, at)));
    this.held = this.held.slice(at + close.length);
    this.fresh = this.held;
    this.state = then;
    return true;
  }

  private beforeClosing(pieces: ThinkPiece[]): boolean {
    if (!this.opensElsewhere) {
      const text = this.held.slice(0, longestBeginning).trimStart();
      if (opened.some((tag) => startsWith(text, tag))) {
        this.state = 'before';
        return true;
      }
      this.opensElsewhere = this.held.length >= longestBeginning;
    }
    if (!this.closed('before', pieces)) return false;
    this.sawBlock = true;
    this.closedUnopened = true;
    return true;
  }

  private beforeAnswer(pieces: ThinkPiece[]): boolean {
    const text = this.held.trimStart();
    this.blanks += this.held.slice(0, this.held.length - text.length);
    this.held = text;
    const block = blocks.find(([tag]) => startsWith(text, tag));
    if (block) {
      this.held = text.slice(block[0].length);
      this.closing = block[1];
      this.state = 'thinking';
      this.sawBlock = true;
      return true;
    }
    const lead = leads.find((tag) => startsWith(text, tag));
    if (lead) {
      this.held = text.slice(lead.length);
      this.sawBlock = true;
    } else if (opened.some((tag) => startsWith(tag, text.toLowerCase()))) return false;
    this.held = this.sawBlock ? this.held.trimStart() : this.blanks + this.held;
    this.state = 'answer';
    return this.until(open, 'content', 'aside', pieces);
  }

  private until(tag: string, kind: ThinkPiece['kind'], then: 'before' | 'aside', pieces: ThinkPiece[]): boolean {
    const at = find(this.held, tag);
    const end = at >= 0 ? at : this.held.length - Math.max(heldBack(this.held, tag), kind === 'content' ? mayEndTurn(this.held) : 0);
    pieces.push(...piece(kind, this.held.slice(0, end)));
    this.held = this.held.slice(at >= 0 ? at + tag.length : end);
    this.fresh = this.held;
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
