import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { freePorts, isPortFree, probeHttp, probeKafka, probeNeo4j, probeRedis, waitUntilAnswers } from '../stack/probes.mjs';
import { identify, isAlive, run, signalProcess, startProcess, stopProcess } from '../stack/processes.mjs';

const cleanup: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const action of cleanup.splice(0).reverse()) await action();
});

function temporaryFolder() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'conclave-stack-spec-'));
  cleanup.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a Node program and waits until it has logged `ready`. */
async function startProgram(source: string) {
  const folder = temporaryFolder();
  const ready = path.join(folder, 'ready');
  const program = `${source}; require('node:fs').writeFileSync(${JSON.stringify(ready)}, ''); setInterval(() => {}, 1000)`;
  const started = await startProcess({ file: process.execPath, args: ['-e', program] }, path.join(folder, 'log'), 'ours');
  cleanup.push(() => void signalProcess(started, 'SIGKILL'));
  await waitUntilAnswers(() => run('test', ['-f', ready]), { withinMs: 10_000, ended: started.exited });
  return started;
}

/** A TCP server that answers each request with the next of these byte sequences. */
async function speaking(...answers: Buffer[]) {
  const left = [...answers];
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined); // a probe closes the connection as soon as it has its answer
    socket.on('data', () => {
      const answer = left.shift();
      if (answer) socket.write(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanup.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}

const kafkaAnswer = (...body: number[]) => Buffer.from([0, 0, 0, body.length + 4, 0, 0, 0, 1, ...body]);

describe('a process that was started', () => {
  it('is stopped by SIGTERM', async () => {
    const program = await startProgram('');
    expect(isAlive(program)).toBe(true);
    expect(await stopProcess(program, 5_000)).toBe('stopped');
    expect(isAlive(program)).toBe(false);
    expect(await stopProcess(program, 5_000)).toBe('gone');
  });

  it('is killed when it ignores SIGTERM', async () => {
    const program = await startProgram("process.on('SIGTERM', () => {})");
    expect(await stopProcess(program, 200)).toBe('killed');
    expect(isAlive(program)).toBe(false);
  });

  it('is never confused with a later process of the same id', async () => {
    const stranger = await startProgram('');
    expect(await stopProcess({ pid: stranger.pid, startedAt: 'another time' }, 200)).toBe('gone');
    expect(isAlive(stranger)).toBe(true);
  });

  it('ends with the process that started it, even when that is killed', async () => {
    if (process.platform !== 'linux') return; // elsewhere only an orderly exit ends the child
    const log = path.join(temporaryFolder(), 'log');
    const module = path.resolve(import.meta.dirname, '../stack/processes.mjs');
    const source = `import { startProcess } from ${JSON.stringify(module)};
      const child = await startProcess({ file: 'sleep', args: ['60'] }, ${JSON.stringify(log)}, 'ours');
      process.stdout.write(String(child.pid)); setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    const text = await new Promise<Buffer>((resolve) => parent.stdout.once('data', resolve));
    const child = identify(Number(text.toString()));
    parent.kill('SIGKILL');
    await waitUntilAnswers(() => (isAlive(child) ? Promise.reject(new Error('still alive')) : Promise.resolve()), { withinMs: 5_000 });
  });

  it('fails with the last lines of its log when it ends at once', async () => {
    const log = path.join(temporaryFolder(), 'log');
    const started = await startProcess({ file: 'sh', args: ['-c', 'echo no such setting; exit 3'] }, log, 'ours').catch(
      (error: Error) => error,
    );
    if (started instanceof Error) expect(started.message).toContain('no such setting');
    else expect(await started.exited).toBe('exit code 3');
  });
});

describe('a server answers', () => {
  it('as Kafka only when it lists a live broker', async () => {
    const versions = kafkaAnswer(0, 0, 0, 0, 0, 0);
    expect(await probeKafka(await speaking(versions, kafkaAnswer(0, 0, 0, 1)))).toBe(1);
    await expect(probeKafka(await speaking(versions, kafkaAnswer(0, 0, 0, 0)))).rejects.toThrow('no live broker');
    await expect(probeKafka(await speaking(kafkaAnswer(0, 35)))).rejects.toThrow('error 35');
  });

  it('as Redis only with PONG', async () => {
    expect(await probeRedis(await speaking(Buffer.from('+PONG\r\n')))).toBe(true);
    await expect(probeRedis(await speaking(Buffer.from('-LOADING reading the log\r\n')))).rejects.toThrow('-LOADING');
  });

  it('as Neo4j only when it agrees on a version', async () => {
    expect(await probeNeo4j(await speaking(Buffer.from([0, 0, 8, 5])))).toBe('5.8');
    await expect(probeNeo4j(await speaking(Buffer.from([0, 0, 0, 0])))).rejects.toThrow('no Bolt version');
  });

  it('not by an open port alone', async () => {
    const silent = await speaking();
    await expect(probeRedis(silent)).rejects.toThrow('no answer');
    await expect(probeHttp(silent, '/healthz')).rejects.toThrow();
  });

  it('or the wait ends at once if its process is gone', async () => {
    const [port] = await freePorts(1);
    const wait = waitUntilAnswers(() => probeRedis(port!), { withinMs: 60_000, ended: Promise.resolve('exit code 1') });
    await expect(wait).rejects.toThrow('it ended before it answered (exit code 1)');
  });
});

it('a port is free only while nothing listens on it', async () => {
  const port = await speaking();
  expect(await isPortFree(port)).toBe(false);
  const [free] = await freePorts(1);
  expect(await isPortFree(free!)).toBe(true);
});

describe('the stack command', () => {
  const command = path.resolve(import.meta.dirname, '../stack.mjs');
  const stack = (home: string, ...args: string[]) => run(process.execPath, [command, ...args], { env: { CONCLAVE_STACK_HOME: home } });

  it('reports that nothing is up when nothing was started', async () => {
    const said = await stack(temporaryFolder(), 'status');
    expect(said.match(/ off /g)).toHaveLength(5);
    expect(await stack(temporaryFolder(), 'down')).toContain('nothing to do');
  });

  it('lists the available servers for an unknown one', async () => {
    await expect(stack(temporaryFolder(), 'up', '--only', 'kafca')).rejects.toThrow('There is no server "kafca". Choose from kafka, redis');
  });

  it('exits with status 1 when a started server is gone, and down cleans up', async () => {
    const home = temporaryFolder();
    const record = {
      name: 'redis',
      how: 'local',
      pid: process.pid,
      startedAt: 'another time',
      ports: { redis: 1 },
      environment: { REDIS_URL: 'x' },
    };
    mkdirSync(path.join(home, 'started'));
    writeFileSync(path.join(home, 'started', 'redis.json'), JSON.stringify(record));
    await expect(stack(home, 'status')).rejects.toThrow(/exit code 1[^]*redis +gone/);
    expect(await stack(home, 'down')).toContain('was gone already');
    expect(await stack(home, 'status')).toMatch(/redis +off/);
  });
});
