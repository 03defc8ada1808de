// Runs the tiny model: `node dist/tiny-model.js TEXT_FILE [PORT]`. Prints its base URL; ends with SIGINT or SIGTERM.
import { readFileSync } from 'node:fs';
import { startTinyModel } from './tiny-model-server.js';

const [file, port = '0'] = process.argv.slice(2);
if (!file || !/^\d{1,5}$/.test(port)) {
  console.error('Usage: node dist/tiny-model.js TEXT_FILE [PORT]');
  process.exit(2);
}
const server = await startTinyModel({ text: readFileSync(file, 'utf8'), port: Number(port) });
console.log(`tiny model ready at ${server.url}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
