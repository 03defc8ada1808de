import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { alerts } from '@conclave/test-support/monitoring';
import { workspaceRoot } from '@conclave/test-support/system';

const folder = join(workspaceRoot, 'deploy/prometheus');
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'conclave-rules-'));
  cpSync(folder, copy, { recursive: true });
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function promtool(...args: readonly string[]): { readonly code: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', timeout: 60_000 });
  return { code: status, output: stdout + stderr };
}

describe('promtool', () => {
  it('accepts the rules, and the configuration of docker-compose.yml', () => {
    const checked = promtool('check', 'rules', '--lint=all', '--lint-fatal', join(folder, 'rules/conclave.yml'));
    expect([checked.code, checked.output]).toEqual([0, expect.stringContaining(`${alerts.length + 1} rules found`)]);
    const configured = promtool('check', 'config', '--syntax-only', join(folder, 'prometheus.yml'));
    expect([configured.code, configured.output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  it('sees each alert fire for its series, and stay quiet for others', () => {
    expect(promtool('test', 'rules', join(folder, 'tests/conclave.test.yml'))).toMatchObject({ code: 0 });
  });

  it.each([
    ['never fired', 'vector(0) > 1', ',severity='],
    ['always fired', 'vector(1)', '}'],
  ])('would report every alert if it %s', (_, expr, rest) => {
    const rules = readFileSync(join(folder, 'rules/conclave.yml'), 'utf8');
    writeFileSync(join(copy, 'rules/conclave.yml'), rules.replace(/(- alert: .*\n {8}expr: ).*\n(?:(?! {8}\w).*\n)*/g, `$1${expr}\n`));
    const { code, output } = promtool('test', 'rules', join(copy, 'tests/conclave.test.yml'));
    expect(code).toBe(1);
    // The failed expectations: of an alert that fires with its labels, and of one that does not fire at all.
    const failed = (name: string): boolean => output.includes(`ALERTS{alertname=\\"${name}\\",alertstate=\\"firing\\"${rest}`);
    expect(alerts.map(({ name }) => name).filter((name) => !failed(name))).toEqual([]);
  });
});
