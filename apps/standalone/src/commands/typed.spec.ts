import { describe, expect, it } from '@jest/globals';
import { keysHelp } from './keys.js';
import { asTyped, prefixOf } from './typed.js';

describe('commands in texts', () => {
  it('begin as the program was started', () => {
    const argv = ['/usr/bin/node', '/home/me/conclave/dist/standalone.js'];
    const env = { npm_lifecycle_script: 'node tools/run.mjs standalone' };
    expect(prefixOf({ argv, cwd: '/home/me/conclave', env })).toBe('npm run conclave --');
    expect(prefixOf({ argv, cwd: '/home/me/conclave', env: {} })).toBe('node dist/standalone.js');
    expect(prefixOf({ argv, cwd: '/srv', env: { npm_lifecycle_script: 'node other.mjs' } })).toBe(
      'node /home/me/conclave/dist/standalone.js',
    );
  });

  it('are written as they can be typed, in sentences and in help', () => {
    expect(asTyped('Run `conclave recover` first, conclave.', 'node a.js')).toBe('Run `node a.js recover` first, conclave.');
    const lines = asTyped(keysHelp, 'npm run conclave --').split('\n');
    expect(lines).toContain('  npm run conclave -- keys show <id>');
    expect(lines.join('\n')).not.toMatch(/^ {2}conclave /m);
    // The second column stays one column.
    const columnOf = (begin: string, words: string): number => lines.find((line) => line.startsWith(begin))!.indexOf(words);
    expect(columnOf('      --tenant <t>', 'default: default')).toBe(columnOf('  npm run conclave -- keys create', 'prints the value'));
  });
});
