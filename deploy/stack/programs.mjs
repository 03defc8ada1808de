import { spawnSync } from 'node:child_process';
import { provide } from './launch.mjs';

/** Debian installs SymPy for its own Python; the first python3 on PATH may be another one. */
const python = '/usr/bin/python3';

/** What integration tests need that is started by what they test: it only has to be there. */
export const programs = [
  {
    name: 'sympy',
    missing: () =>
      spawnSync(python, ['-I', '-c', 'import sympy'], { timeout: 60_000, env: {} }).status === 0
        ? null
        : { reason: `no SymPy found for ${python}`, packages: ['python3-sympy'] },
  },
];

/** Installs what is missing where that is allowed; why each of the others is missing, by name. */
export const providePrograms = (names, options = {}) =>
  provide(
    programs.filter(({ name }) => names.includes(name)),
    options,
  );
