import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Toolbox } from './tools/index.js';
import { listedTools, openServer } from './server.js';
import { WholeLines } from './whole-lines.js';

/** Longest message, in bytes; a longer one is answered with an error and the connection stays. */
const longestMessage = 32 * 1024 * 1024;

/** Serves MCP on a pair of streams until the input ends. */
export async function serveStdio(toolbox: Toolbox, input: Readable, output: Writable): Promise<void> {
  const lines = new WholeLines(longestMessage, (id) => {
    const error = { code: -32_600, message: `The message is longer than ${longestMessage} bytes.` };
    if (id !== null) output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
  });
  const server = openServer(toolbox, listedTools(toolbox));
  const ended = new Promise<void>((resolve) => lines.once('end', resolve).once('close', resolve));
  await server.connect(new StdioServerTransport(input.pipe(lines), output, { maxBufferSize: 2 * longestMessage }));
  toolbox.warm();
  await ended;
  await server.close();
}
