/**
 * The lines of a UTF-8 stream, without their line feeds. Only a line feed ends a line: Node's readline also splits at U+2028, which JSON
 * texts may contain. Errors of the stream pass through.
 */
export async function* textLines(source: AsyncIterable<Uint8Array | string>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of source) {
    const parts = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n');
    rest = parts.pop()!;
    yield* parts;
  }
  if (rest !== '') yield rest;
}
