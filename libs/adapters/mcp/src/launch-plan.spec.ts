import { describe, expect, it } from '@jest/globals';
import { launchOf, type ConfiguredServers } from './launch-plan.js';

const environment = { PATH: '/bin', HOME: '/home/one', SECRET: 'sk-1', OTHER_SECRET: 'sk-2', EMPTY: '' };
const builtins = { 'precision-tools': { command: 'node', args: ['tools.js'] } };
const plan = (server: ConfiguredServers[string]) => launchOf('one', server, { environment, builtins, folder: '/srv' });

describe('the plan of a server', () => {
  it('passes on PATH, HOME and the configured variables, under the names the program expects', () => {
    expect(plan({ command: 'files', args: ['./docs'], env: { API_KEY: 'SECRET' }, allow: true })).toEqual({
      kind: 'program',
      command: 'files',
      args: ['./docs'],
      env: { PATH: '/bin', HOME: '/home/one', API_KEY: 'sk-1' },
      folder: '/srv',
    });
    expect(plan({ builtin: 'precision-tools' })).toMatchObject({
      command: 'node',
      args: ['tools.js'],
      env: { PATH: '/bin', HOME: '/home/one' },
    });
    expect(plan({ url: 'https://tools.example/mcp', headers_env: { authorization: 'SECRET' } })).toEqual({
      kind: 'address',
      url: 'https://tools.example/mcp',
      headers: { authorization: 'sk-1' },
    });
  });

  it.each<[string, ConfiguredServers[string], string]>([
    ['is not allowed', { command: 'files' }, 'Add `allow: true`'],
    ['is forbidden', { command: 'files', allow: false }, 'Add `allow: true`'],
    ['has no address', { allow: true }, 'its address is missing'],
    ['has two addresses', { command: 'files', url: 'http://127.0.0.1/', allow: true }, 'Keep one of'],
    ['has an unknown name', { builtin: 'precison-tools' }, 'Did you mean `precision-tools`?'],
    ['has the name of an inherited member', { builtin: 'constructor' }, 'no built-in server `constructor`'],
    ['needs a variable that is not set', { command: 'files', allow: true, env: { KEY: 'MISSING' } }, 'MISSING is not set'],
    ['needs a variable that is empty', { command: 'files', allow: true, env: { KEY: 'EMPTY' } }, 'EMPTY is not set'],
    ['needs a header that is not set', { url: 'http://127.0.0.1/', headers_env: { a: 'MISSING' } }, 'MISSING is not set'],
  ])('that %s is reported in a sentence', (_name, server, words) => {
    expect(plan(server)).toEqual({ kind: 'refused', reason: expect.stringMatching(/^mcp\.one: .*\.$|^mcp\.one: .*\?$/) });
    expect(plan(server)).toMatchObject({ reason: expect.stringContaining(words) });
  });

  it.each(['ghp_0123456789abcdef', 'Bearer 0123456789', '/srv/memory.jsonl'])(
    'does not repeat %s where the name of a variable belongs',
    (value) => {
      const program = plan({ command: 'files', allow: true, env: { GITHUB_TOKEN: value } });
      const address = plan({ url: 'http://127.0.0.1/', headers_env: { 'x-api-key': value } });
      expect([program, address]).toEqual([
        { kind: 'refused', reason: expect.stringContaining('`env.GITHUB_TOKEN` must be the name of an environment variable') },
        { kind: 'refused', reason: expect.stringContaining('such as X_API_KEY, and not the value itself') },
      ]);
      expect(JSON.stringify([program, address])).not.toContain(value);
    },
  );
});
