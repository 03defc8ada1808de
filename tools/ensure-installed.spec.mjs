import { describe, expect, it } from '@jest/globals';
import { dueInstallation } from './ensure-installed.mjs';

const lock = (versions = {}) => ({
  '': { name: 'conclave' },
  'libs/loop': { version: '0.1.0' },
  'node_modules/@conclave/loop': { resolved: 'libs/loop', link: true },
  'node_modules/used': { version: '1.0.0' },
  'node_modules/tested-with': { version: versions.testedWith ?? '1.0.0', dev: true },
  'node_modules/of-another-platform': { version: '1.0.0', optional: true },
});
const without = (packages, name) => Object.fromEntries(Object.entries(packages).filter(([path]) => path !== `node_modules/${name}`));
const everything = without(lock(), 'of-another-platform');
const forUse = without(everything, 'tested-with');

describe('an installation', () => {
  it('leaves out development packages if nothing is installed and a program is started', () => {
    expect(dueInstallation(lock(), undefined, false)).toEqual(['ci', '--omit=dev']);
    expect(dueInstallation(lock(), undefined, true)).toEqual(['ci']);
  });

  it('is not repeated by a start, with or without development packages', () => {
    expect(dueInstallation(lock(), forUse, false)).toBeUndefined();
    expect(dueInstallation(lock(), everything, false)).toBeUndefined();
    expect(dueInstallation(lock(), everything, true)).toBeUndefined();
  });

  it('is completed by the first test, once', () => {
    expect(dueInstallation(lock(), forUse, true)).toEqual(['ci']);
  });

  it('keeps development packages when the lockfile changes, if there are any', () => {
    const changed = lock({ testedWith: '2.0.0' });
    expect(dueInstallation(changed, everything, false)).toEqual(['ci']);
    expect(dueInstallation(changed, forUse, false)).toBeUndefined();
  });

  it('is repeated when a package is gone or has another version', () => {
    const older = { ...forUse, 'node_modules/used': { version: '0.9.0' } };
    expect(dueInstallation(lock(), without(forUse, 'used'), false)).toEqual(['ci', '--omit=dev']);
    expect(dueInstallation(lock(), older, false)).toEqual(['ci', '--omit=dev']);
  });
});
