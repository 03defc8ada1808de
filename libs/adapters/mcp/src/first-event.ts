/** Characters at the beginning of a stream that are looked at. */
const longestBeginning = 1_000;

/** Whether a complete line says what kind of event its event is; comments, ids and times to retry do not. */
const saysKind = (line: string): boolean => /^(?:event|data)(?::|$)/.test(line);

/**
 * Whether the first event of this response, a stream of events, is an endpoint. `rest` has the whole stream; it is cancelled if it begins
 * with an endpoint. Waits for the first event.
 */
export async function beginsWithEndpoint(
  response: Response,
): Promise<{ readonly isEndpoint: boolean; readonly rest: ReadableStream<Uint8Array> | null }> {
  if (!response.body) return { isEndpoint: false, rest: null };
  const [look, rest] = response.body.tee();
  const reader = look.getReader();
  let text = '';
  let field: string | undefined;
  while (field === undefined && text.length < longestBeginning) {
    const { value, done } = await reader.read();
    if (done) break;
    text += Buffer.from(value).toString('latin1', 0, longestBeginning);
    field = text
      .split(/[\r\n]/)
      .slice(0, -1)
      .find(saysKind);
  }
  const isEndpoint = field !== undefined && /^event: ?endpoint\s*$/.test(field);
  // Each of the two settles only with the other one, which reports the error of both.
  const looked = reader.cancel().catch(() => undefined);
  if (isEndpoint) await Promise.all([looked, rest.cancel()]);
  return { isEndpoint, rest };
}
