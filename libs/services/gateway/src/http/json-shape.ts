import { Failure } from '@conclave/contracts';

/** Limits of a body. Ordinary requests stay far below; anything above costs work out of proportion to its bytes. */
export const jsonLimits = { levels: 64, names: 10_000, values: 100_000 } as const;

const [quote, backslash, comma, colon, openList, closeList, openObject, closeObject] = [...'"\\,:[]{}'].map((sign) =>
  sign.charCodeAt(0),
) as [number, number, number, number, number, number, number, number];

/**
 * Scans the bytes of a JSON text once before it is parsed, skipping the contents of strings. Invalid JSON may pass; the parser
 * refuses it. Throws REQUEST_TOO_COMPLEX.
 */
export function assertSimple(raw: Buffer): void {
  let levels = 0;
  let names = 0;
  let values = 1;
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at];
    if (byte === quote) {
      at = endOfText(raw, at + 1);
      if (at < 0) return;
    } else if (byte === openList || byte === openObject) {
      levels += 1;
      if (levels > jsonLimits.levels) throw tooComplex();
    } else if (byte === closeList || byte === closeObject) levels -= 1;
    else if (byte === comma || byte === colon) {
      values += 1;
      if (byte === colon) names += 1;
      if (names > jsonLimits.names || values > jsonLimits.values) throw tooComplex();
    }
  }
}

/** Index of the quote that ends a string, or -1. A quote after an odd number of backslashes is part of the string. */
function endOfText(raw: Buffer, from: number): number {
  for (let at = raw.indexOf(quote, from); at >= 0; at = raw.indexOf(quote, at + 1)) {
    let slashes = 0;
    while (at - 1 - slashes >= from && raw[at - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

const tooComplex = (): Failure => new Failure('REQUEST_TOO_COMPLEX');
