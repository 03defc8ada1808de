import type { Piece } from './pieces.js';

/** Joins neighbouring pieces to passages. */
export class PassageWriter {
  private held: Piece[] = [];
  private length = 0;

  constructor(
    private readonly size: number,
    private readonly overlap: number,
  ) {}

  /** The passage that ends before this piece; null if there is still room. */
  add(piece: Piece): string | null {
    if (piece.text.trim() === '') return null;
    let ended: string | null = null;
    if (this.held.length > 0 && (piece.text.trimEnd().length > this.room || (piece.begins && this.length > this.size / 4))) {
      const kept = this.begunWith(piece);
      ended = textOf(this.held.slice(0, this.held.length - kept.announced));
      this.held = kept.pieces;
      this.length = kept.pieces.reduce((sum, one, at) => sum + one.text.length + (at === 0 ? headLength(one) : 0), 0);
    }
    if (this.held.length === 0) this.length = headLength(piece);
    this.held.push(piece);
    this.length += piece.text.length;
    return ended;
  }

  private get room(): number {
    return this.size - this.length;
  }

  /** Characters of what announces the next piece. */
  get announcement(): number {
    return this.last(({ announces }) => announces, this.size).reduce((sum, { text }) => sum + text.length, 0);
  }

  /** The last passage of a section. */
  end(): string | null {
    const last = this.held.length === 0 ? null : textOf(this.held);
    [this.held, this.length] = [[], 0];
    return last;
  }

  /** Last pieces with which the next passage begins: those that announce the piece, which leave the one before, or else sentences that both contain. */
  private begunWith(piece: Piece): { readonly pieces: Piece[]; readonly announced: number } {
    const announcing = this.last(({ announces }) => announces, this.size - piece.text.trimEnd().length);
    if (announcing.length > 0 && announcing.length < this.held.length) return { pieces: announcing, announced: announcing.length };
    const room = Math.min(this.overlap, this.size - piece.text.trimEnd().length);
    return { pieces: piece.head === '' ? this.last(({ isSentence }) => isSentence, room) : [], announced: 0 };
  }

  private last(wanted: (piece: Piece) => boolean, room: number): Piece[] {
    let from = this.held.length;
    let length = 0;
    while (from > 0 && wanted(this.held[from - 1]!) && length + this.held[from - 1]!.text.length <= room) {
      from -= 1;
      length += this.held[from]!.text.length;
    }
    return this.held.slice(from);
  }
}

const headLength = ({ head }: Piece): number => (head === '' ? 0 : head.length + 1);

function textOf(pieces: readonly Piece[]): string {
  const text = pieces
    .map((piece) => piece.text)
    .join('')
    .trim();
  const { head } = pieces[0]!;
  return head === '' ? text : `${head}\n${text}`;
}
