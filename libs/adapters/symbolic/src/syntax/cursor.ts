import type { SyntaxToken } from './tokens.js';
import { bounds, type Relation, type Tree } from './tree.js';
import { unreadable } from './unreadable.js';

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
export const relationSigns: Readonly<Record<string, Relation>> = { '=': '=', '!=': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' };
export const shown = (text: string): string => JSON.stringify(text.slice(0, 40));

/** A position in a list of tokens, with the limits of the tree that is built from them. */
export class Cursor {
  protected at = 0;
  private depth = 0;
  private nodes = 0;

  constructor(protected readonly tokens: readonly SyntaxToken[]) {}

  expectEnd(): void {
    const token = this.tokens[this.at];
    if (token) throw this.unexpected(token);
  }

  protected take(sign: string): boolean {
    const token = this.tokens[this.at];
    if (token?.kind !== 'sign' || token.text !== sign) return false;
    this.at += 1;
    return true;
  }

  protected opened(): string {
    const token = this.tokens[this.at];
    const end = token?.kind === 'sign' && Object.hasOwn(closing, token.text) ? closing[token.text] : undefined;
    if (end === undefined) throw token ? this.unexpected(token) : unreadable('A bracket is missing.');
    this.at += 1;
    return end;
  }

  protected expect(sign: string): void {
    if (this.take(sign)) return;
    const token = this.tokens[this.at];
    throw token ? this.unexpected(token, sign) : unreadable(`A closing ${sign} is missing.`);
  }

  protected unexpected(token: SyntaxToken, wanted?: string): Error {
    if (token.text === '=' || Object.hasOwn(relationSigns, token.text))
      return unreadable(`A relation (${token.text}) is used where a value is expected. Equations belong to the operation solve.`);
    return unreadable(`${shown(token.text)} is not expected at position ${token.at + 1}${wanted ? `; ${wanted} is` : ''}.`);
  }

  protected nested<T>(read: () => T): T {
    this.depth += 1;
    // Each level of brackets calls this several times.
    if (this.depth > bounds.depth * 3) throw unreadable(`It is nested deeper than ${bounds.depth} levels.`);
    const value = read();
    this.depth -= 1;
    return value;
  }

  protected made<T extends Tree>(tree: T): T {
    this.nodes += 1;
    if (this.nodes > bounds.nodes) throw unreadable(`It has more than ${bounds.nodes} parts.`);
    return tree;
  }
}
