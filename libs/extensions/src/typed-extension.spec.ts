import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import * as z from 'zod';
import jury from './__fixtures__/jury.js';
import { extensionKit } from './extension-kit.js';

const root = join(import.meta.dirname, '../../..');

it('the TypeScript of the guide is the module whose types are checked, and its strategy is accepted', () => {
  const guide = readFileSync(join(root, 'docs/guides/extensions.md'), 'utf8');
  const [, code] = /```ts\n\/\/ jury\.ts\n([\s\S]*?)```/.exec(guide)!;
  const checked = readFileSync(join(root, 'libs/extensions/src/__fixtures__/jury.ts'), 'utf8');
  expect(code!.replace('../conclave/libs/extensions/src/index.js', '../index.js')).toBe(checked);
  const [strategy] = jury(extensionKit(z)).strategies!;
  expect(strategy!.options.parse({})).toEqual({ voters: 3 });
});
