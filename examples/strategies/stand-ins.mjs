// The stand-ins for a model, each as a model server on a free port.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ScriptedModelServer } from '../../tests/support/src/index.ts';
import { workspaceRoot } from '../../tools/workspace.mjs';
import { replyTo } from './stand-in.mjs';

/** The stand-in for templates that answer from documents. It counts four characters of the prompt as one token. */
export const startStandIn = () =>
  ScriptedModelServer.start({
    models: ['stand-in'],
    script: [{ name: 'any call', match: () => true, reply: (request) => ({ text: replyTo(request), words: true }), times: Infinity }],
  });

/** The stand-in of the hotel, which is a separate program. */
export async function startHotelStandIn() {
  const args = [join(workspaceRoot, 'examples/hotel/model.mjs'), '0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const close = async () => {
    const closed = once(child, 'close');
    child.kill();
    await closed;
  };
  return { url: line.replace('OPENAI_BASE_URL=', ''), close };
}
