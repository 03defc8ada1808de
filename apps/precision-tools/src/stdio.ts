import { type Readable, type Writable, Transform, type TransformCallback } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Toolbox } from './tools/index.js';
import { connect, listedTools, openServer } from './server.js';

/** An id near either end of a message, as clients write it. */
const id = /"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")/;
const edge = 4_096;

/**
 * Passes on only whole lines, each in one piece, so that the reader after it does not join the same bytes again and again. A line
 * over the limit is dropped, and `onTooLong` receives the id found near its ends.
 */
class WholeLines extends Transform {
  private parts: Buffer[] = [];
  private size = 0;
  private head: Buffer = Buffer.alloc(0);
  private tail: Buffer = Buffer.alloc(0);

  constructor(
    private readonly longest: number,
    private readonly onTooLong: (id: string | number | null) => void,
  ) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (let at = 0; at < chunk.length;) {
      const newline = chunk.indexOf(0x0a, at);
      const end = newline < 0 ? chunk.length : newline + 1;
      this.collect(chunk.subarray(at, end));
      if (newline >= 0) this.endLine();
      at = end;
    }
    done();
  }

  private collect(part: Buffer): void {
    this.size += part.length;
    if (this.head.length < edge) this.head = Buffer.concat([this.head, part.subarray(0, edge - this.head.length)]);
    this.tail = part.length >= edge ? part.subarray(-edge) : Buffer.concat([this.tail, part]).subarray(-edge);
    if (this.size <= this.longest) this.parts.push(part);
    else this.parts = [];
  }

  private endLine(): void {
    if (this.size <= this.longest) this.push(Buffer.concat(this.parts));
    else {
      const found = id.exec(this.tail.toString('latin1')) ?? id.exec(this.head.toString('latin1'));
      this.onTooLong(found ? (JSON.parse(found[1]!) as string | number) : null);
    }
    [this.parts, this.size, this.head, this.tail] = [[], 0, Buffer.alloc(0), Buffer.alloc(0)];
  }
}

/** Longest message, in bytes; a longer one is answered with an error and the connection stays open. */
const longestMessage = 32 * 1024 * 1024;

/** Serves MCP on a pair of streams until the input ends. */
export async function serveStdio(toolbox: Toolbox, input: Readable, output: Writable): Promise<void> {
  const lines = new WholeLines(longestMessage, (id) => {
    const error = { code: -32_600, message: `The message is longer than ${longestMessage} bytes.` };
    if (id !== null) output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
  });
  const server = openServer(toolbox, listedTools(toolbox));
  const ended = new Promise<void>((resolve) => lines.once('end', resolve).once('close', resolve));
  await connect(server, new StdioServerTransport(input.pipe(lines), output, { maxBufferSize: 2 * longestMessage }));
  toolbox.warm();
  await ended;
  await server.close();
}
