import { spawnSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { describe, expect, it, jest } from '@jest/globals';
import { runInGroup } from './process-group.mjs';

jest.setTimeout(60_000);

const run = (script, limit = 20) => runInGroup(process.execPath, ['-e', script], { cwd: process.cwd(), env: process.env, limit });
/** A process that starts another one, prints its id and then runs forever, or ends if told to. */
const parentOf = (ending) => `
  const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  console.log(child.pid); child.unref(); ${ending}`;

/** True as soon as the process has ended, or is dead and waits to be collected by its new parent; false after five seconds. */
async function ends(pid) {
  for (const until = Date.now() + 5000; Date.now() < until;) {
    const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8', timeout: 5000 });
    if (/^(Z.*)?$/.test(stdout.trim())) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

describe('a command in its own process group', () => {
  it('returns the exit code and the output', async () => {
    expect(await run(`console.log('out'); console.error('err'); process.exit(3)`)).toMatchObject({
      code: 3,
      output: 'out\nerr\n',
      timedOut: false,
    });
  });

  it('takes only the processor time that others leave if it has to yield', async () => {
    const options = { cwd: process.cwd(), env: process.env, limit: 20 };
    const script = `const { getPriority } = require('node:os');
      const { execFileSync } = require('node:child_process');
      const ofChild = execFileSync(process.execPath, ['-p', "require('node:os').getPriority()"], { encoding: 'utf8', timeout: 10_000 });
      console.log(getPriority(), Number(ofChild));`;
    const own = getPriority();
    expect((await runInGroup(process.execPath, ['-e', script], options)).output).toBe(`${own} ${own}\n`);
    expect((await runInGroup(process.execPath, ['-e', script], { ...options, yields: true })).output).toBe('10 10\n');
  });

  it('is ended at its limit together with the processes it started', async () => {
    const result = await run(parentOf('setInterval(() => {}, 1000)'), 1);
    expect(result).toMatchObject({ code: 1, timedOut: true });
    expect(await ends(Number(result.output))).toBe(true);
  });

  it('is ended at its limit together with processes that left its group', async () => {
    const apart = parentOf('setInterval(() => {}, 1000)').replace("{ stdio: 'ignore' }", "{ stdio: 'ignore', detached: true }");
    const result = await run(apart, 1);
    expect(result).toMatchObject({ code: 1, timedOut: true });
    expect(await ends(Number(result.output))).toBe(true);
  });

  it('leaves nothing behind when it ends by itself', async () => {
    const result = await run(parentOf(''));
    expect(result).toMatchObject({ code: 0, timedOut: false });
    expect(await ends(Number(result.output))).toBe(true);
  });

  it('reports that the command does not exist', async () => {
    const result = await runInGroup('no-such-command', [], { cwd: process.cwd(), env: process.env, limit: 5 });
    expect(result.code).toBe(1);
    expect(result.output).toContain('ENOENT');
  });
});
