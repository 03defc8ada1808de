import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AuditLine, RunView } from '@conclave/contracts';
import { CommitteeScript, expert, plainTemplate, runEnd, startRun, System, workspaceRoot } from '@conclave/test-support/system';

jest.setTimeout(180_000);

const sealKey = 'ab'.repeat(32);

/** What an operator types, against a system as it ships, in both modes. */
describe('the command line of an operator', () => {
  let system: System;
  let id: string;
  const question = 'What does an operator ask?';

  /** Runs a command of the built program as `npm run conclave -- …` does. */
  const conclave = (args: readonly string[], variables: Readonly<Record<string, string>> = {}) =>
    new Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>((resolve, reject) => {
      const child = spawn(process.execPath, [join(workspaceRoot, 'dist/standalone.js'), ...args], {
        cwd: system.folder,
        env: { PATH: process.env['PATH'], ...system.environment(), CONCLAVE_URL: system.url(), PORT: '9', ...variables },
      });
      let [out, err] = ['', ''];
      child.stdout.on('data', (text: Buffer) => (out += text.toString()));
      child.stderr.on('data', (text: Buffer) => (err += text.toString()));
      child.once('error', reject).once('close', (code) => resolve({ code, out, err }));
    });

  beforeAll(async () => {
    system = await System.start({
      env: { CONCLAVE_SEAL_KEY: sealKey },
      configuration: { templates: { other: { ...plainTemplate, strategy: 'single-pass' } } },
    });
    const s = new CommitteeScript(system.models, question)
      .plan([expert('x1', 'Say what they ask.')], { times: Infinity })
      .expertReply({ text: 'They ask this.\nCONFIDENCE: 0.9' }, undefined, Infinity);
    s.composer({ chunks: [{ text: 'They ask this.' }] }, Infinity);
    id = (await startRun(system.url(), { model: 'other', input: question })).body.id;
    await runEnd(system.url(), id);
  });
  afterAll(() => system?.stop());

  it('audit export, verify: the export is complete, and keeps the place of a deleted run', async () => {
    const key = readFileSync(join(system.folder, 'admin.key'), 'utf8').trim();
    const file = join(system.folder, 'audit.ndjson');
    const exported = await conclave(['audit', 'export', '--out', file]);
    expect([exported.err, exported.code]).toEqual([expect.stringMatching(/records of all tenants/), 0]);
    const lines = (path: string): AuditLine[] =>
      readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as AuditLine);
    const before = lines(file);
    expect(before.filter(({ run }) => run === id).map(({ tenant }) => tenant)).toContain('default');
    expect(before.find(({ type }) => type === 'CallRecorded')).toMatchObject({ run: id, data: { purpose: expect.any(String) } });
    const publicKey = /Signed with the key (\S+)/.exec(exported.err)![1]!;
    expect(await conclave(['audit', 'verify', file, '--public-key', publicKey])).toMatchObject({ code: 0 });

    if (system.mode === 'distributed') {
      // The same from the log itself, without a gateway, signed with another key.
      const direct = join(system.folder, 'direct.ndjson');
      const own = await conclave(['audit', 'export', '--out', direct, '--key', join(system.folder, 'own.key')], {
        ...{ CONCLAVE_URL: '', CONCLAVE_SEAL_KEY: sealKey },
      });
      expect([own.code, own.err]).toEqual([0, expect.stringMatching(/Created the key/)]);
      expect(lines(direct).filter(({ body }) => body === 'sealed').length).toBeGreaterThan(3);
      expect(
        lines(direct)
          .slice(0, before.length)
          .map(({ hash }) => hash),
      ).toEqual(before.map(({ hash }) => hash));
      expect(await conclave(['audit', 'verify', direct, '--public-key', publicKey])).toMatchObject({ code: 1 });
    }

    const rerun = await conclave(['replay', id, '--template', 'conclave-fast', '--json', '--quiet']);
    expect([rerun.err, rerun.code]).toEqual(['', 0]);
    const { right } = JSON.parse(rerun.out) as { right: { name: string; answer: string } };
    expect(right).toMatchObject({ name: expect.stringMatching(/^conclave-fast \(run_/), answer: expect.stringMatching(/They ask this/) });
    const other = /\((run_\w+)\)/.exec(right.name)![1]!;
    expect(((await (await fetch(`${system.url()}/v1/runs/${other}`)).json()) as RunView).question).toBe(question);

    expect((await fetch(`${system.url()}/v1/runs/${id}`, { method: 'DELETE', headers: { 'x-api-key': key } })).status).toBe(200);
    const later = join(system.folder, 'later.ndjson');
    expect(await conclave(['audit', 'export', '--out', later])).toMatchObject({ code: 0 });
    const after = new Map(lines(later).map((line) => [line.place, line]));
    for (const line of before.filter(({ run, type }) => run === id && type !== 'RunErased'))
      expect(after.get(line.place)).toMatchObject({ body: 'erased', data: null, body_sha256: line.body_sha256 });
    expect(await conclave(['audit', 'verify', later, '--public-key', publicKey])).toMatchObject({ code: 0 });
  });

  it('doctor: reports no problem except for what the mode lacks, and reports a stopped store', async () => {
    const checked = await conclave(['doctor', '--json']);
    const { findings } = JSON.parse(checked.out) as { findings: { check: string; status: string; says: string }[] };
    expect(findings.filter(({ status }) => status === 'problem').map(({ check, says }) => `${check}: ${says}`)).toEqual([]);
    expect(checked.code).toBe(0);
    expect(findings.find(({ check }) => check === 'gateway')).toMatchObject({ status: 'ok' });
    if (system.mode === 'embedded') return;
    const away = await conclave(['doctor', '--json'], { REDIS_URL: 'redis://127.0.0.1:9' });
    expect([away.code, away.out]).toEqual([1, expect.stringMatching(/"check": "redis",\s*"status": "problem"/)]);
  });

  it('backup of a running system, and its restore', async () => {
    const target = join(system.folder, 'backup');
    const issued = await conclave(['keys', 'create', 'front end', '--json']);
    expect(issued.code).toBe(0);
    // The run before was deleted, and with it the runs that continued it.
    await runEnd(system.url(), (await startRun(system.url(), { model: 'other', input: question })).body.id);
    const { id: keyId } = JSON.parse(issued.out) as { id: string };
    const made = await conclave(['backup', '--to', target]);
    expect([made.err, made.code]).toEqual(['', 0]);
    expect(existsSync(join(target, 'backup.json'))).toBe(true);
    if (system.mode === 'embedded') {
      const home = join(system.folder, 'restored');
      const restored = await conclave(['restore', target], { CONCLAVE_HOME: home });
      expect([restored.err, restored.code]).toEqual(['', 0]);
      const replayed = await conclave(['replay', '--all', '--recorded'], { CONCLAVE_HOME: home });
      expect(replayed.out).toMatch(/all the same · hash/);
      return;
    }
    expect(readFileSync(join(target, 'settings.ndjson'), 'utf8')).toContain(keyId);
    // Existing data stays; nothing is overwritten.
    expect(await conclave(['restore', target])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^0 settings are written .*were there already/),
    });
  });
});
