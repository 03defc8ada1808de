import { checkNames, type Finding } from '../evidence/evidence.js';

/** Number of ids that are printed for one check. */
const shown = 20;

/** Findings for people: each check that found something, with its number, up to 20 ids with what is wrong, and the total. */
export function findingsText(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'No findings.';
  const parts = checkNames.flatMap((name, index) => {
    const found = findings.filter(({ check }) => check === name);
    if (found.length === 0) return [];
    const number = name === 'enough-succeeded' ? 'guard' : `check ${index + 1}`;
    const rest = found.length - shown;
    return [
      `${number} ${name}: ${count(found.length)}`,
      ...found.slice(0, shown).map(({ id, sentence }) => `  ${id}: ${sentence}`),
      ...(rest > 0 ? [`  and ${rest} more`] : []),
    ];
  });
  return [...parts, `${count(findings.length)} in all`].join('\n');
}

const count = (n: number): string => `${n} ${n === 1 ? 'finding' : 'findings'}`;
