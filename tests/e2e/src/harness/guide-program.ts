import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@conclave/test-support';
import { freePorts } from '@conclave/test-support/system';
import { pageFolder, readPage, writeFiles } from './page.js';

/** A server that a page shows as a file, started as its reader would start it. */
export async function follower(
  path: string,
  file: string,
  variables: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; output(): string; stop(): Promise<void> }> {
  const folder = pageFolder();
  writeFiles(readPage(path), folder);
  const [port] = await freePorts(1);
  const child = spawn(process.execPath, [join(folder, file)], { env: { ...process.env, ...variables, PORT: String(port) }, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const url = `http://127.0.0.1:${port}/`;
  await until(`${file} of ${path}`, () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  return {
    url,
    output: () => output,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
