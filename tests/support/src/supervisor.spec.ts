import { afterEach, describe, expect, it } from '@jest/globals';
import { Supervised, type SupervisedOptions } from './supervisor.js';
import { until } from './until.js';

const waits = `console.log('ready ' + (process.env.MARK ?? 'none')); setInterval(() => {}, 1000);`;
let running: Supervised | null = null;
const start = async (script: string, rest: Partial<SupervisedOptions> = {}): Promise<Supervised> =>
  (running = await Supervised.start({ name: 'program', args: ['-e', script], ready: /ready/, ...rest }));
afterEach(async () => {
  await running?.stop();
  running = null;
});
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('a supervised process', () => {
  it('is started with its environment and reports the signal that ended it', async () => {
    const program = await start(waits, { env: { MARK: 'red' } });
    expect(program.output()).toContain('ready red');
    expect(await program.kill()).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  it('starts again after SIGKILL with the environment for restarts, but not after it exits by itself', async () => {
    const program = await start(waits, { env: { MARK: 'red' }, restartEnv: { MARK: 'blue' }, restartAfterKill: true });
    const first = program.pid;
    await program.kill();
    await until('the restart', () => program.output().includes('ready blue'));
    expect(program.pid).not.toBe(first);
    await program.kill('SIGTERM');
    expect(program.pid).toBeNull();
    expect(program.exits()).toMatchObject([
      { code: null, signal: 'SIGKILL' },
      { code: null, signal: 'SIGTERM' },
    ]);
  });

  it('ends its children with it', async () => {
    const program = await start(
      `const { spawn } = require('node:child_process');
       const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
       console.log('ready ' + child.pid); setInterval(() => {}, 1000);`,
    );
    const child = Number(/ready (\d+)/.exec(program.output())?.[1]);
    expect(isAlive(child)).toBe(true);
    await program.kill();
    await until('the end of the child', () => !isAlive(child));
  });

  it.each([false, true])(
    'shows the output of a process that ends before it is ready (restarted after a kill: %s)',
    async (restartAfterKill) => {
      await expect(start(`console.error('no such file'); process.exit(3)`, { restartAfterKill })).rejects.toThrow(
        /ended before it was ready \(code 3\)[\s\S]*no such file/,
      );
    },
  );

  it('is killed if it ignores SIGTERM', async () => {
    const program = await start(`process.on('SIGTERM', () => {}); ${waits}`);
    expect(await program.stop(100)).toMatchObject({ code: null, signal: 'SIGKILL' });
  });
});
