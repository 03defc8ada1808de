import { describe, expect, it } from '@jest/globals';
import { cleared, elapsedText, painted, paintFor, plain, WaitingLine } from './terminal-look.js';

const red = '\u001b[31m';
const isColoured = (isTerminal: boolean, environment: Record<string, string> = {}) => paintFor(isTerminal, environment)('red', 'x') !== 'x';

describe('colours', () => {
  it('are used on terminals, as NO_COLOR, FORCE_COLOR and TERM determine', () => {
    expect([isColoured(true), isColoured(false)]).toEqual([true, false]);
    expect([isColoured(true, { NO_COLOR: '1' }), isColoured(true, { NO_COLOR: '' }), isColoured(true, { TERM: 'dumb' })]).toEqual([
      false,
      true,
      false,
    ]);
    expect([
      isColoured(false, { FORCE_COLOR: '1' }),
      isColoured(true, { FORCE_COLOR: '0' }),
      isColoured(false, { FORCE_COLOR: '' }),
    ]).toEqual([true, false, true]);
    expect(isColoured(false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(true);
  });

  it('depend on how a line begins, and change no text', () => {
    const text = '🎯 conclave: strategy agentic\nr1 · search\n   a detail\n❌ r1 failed\n🏁 Done: all found.\n🏁 Failed: nothing.\n';
    const coloured = painted(text, paintFor(true, {}));
    // eslint-disable-next-line no-control-regex -- colour codes
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(text);
    const [head, task, , failed, done, lost] = coloured.split('\n');
    expect([head, task, failed, lost, done!.startsWith(red)]).toEqual([
      expect.stringContaining('\u001b[36m'),
      'r1 · search',
      expect.stringContaining(red),
      expect.stringContaining(red),
      false,
    ]);
    expect(painted(text, plain)).toBe(text);
  });
});

describe('elapsed time', () => {
  it.each([
    [0, '0.0 s'],
    [430, '0.4 s'],
    [9_949, '9.9 s'],
    [9_950, '10 s'],
    [59_400, '59 s'],
    [59_600, '1 min 00 s'],
    [125_000, '2 min 05 s'],
  ])('of %d ms is %s', (ms, text) => expect(elapsedText(ms)).toBe(text));

  it('is shown in one line, which is cleared before other output', () => {
    let written = '';
    let ms = 0;
    const out = { write: (text: string) => (written += text) };
    const line = new WaitingLine(out, () => ms, plain);
    const progress = line.beneath(out);
    line.tick();
    ms = 2_100;
    line.tick();
    progress.write('📋 Planning\n');
    expect(written).toBe(`⠋ 0 s${cleared}⠙ 2 s${cleared}📋 Planning\n`);
    written = '';
    progress.write('Hello ');
    line.tick();
    expect(written).toBe('Hello ');
    progress.write('world.\n');
    line.tick();
    line.clear();
    line.clear();
    expect(written).toBe(`Hello world.\n⠙ 2 s${cleared}`);
  });
});
