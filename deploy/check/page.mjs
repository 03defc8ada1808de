import { parts } from './parts.mjs';
import results from './results.json' with { type: 'json' };

const outcomeOf = (result) => {
  if (!result) return 'Not run yet.';
  const { date, seconds, stopped } = result;
  return stopped ? `**Not passed yet.** On ${date} it got this far, and stopped: ${stopped}` : `Passed on ${date}, in ${seconds} s.`;
};

const section = (name, { title, unproven }, result) =>
  [
    `## ${name}: ${title}`,
    '',
    outcomeOf(result),
    '',
    ...(result ? [...result.facts.map((fact) => `- ${fact}`), ''] : []),
    ...(unproven.length > 0 ? ['Not shown:', '', ...unproven.map((sentence) => `- ${sentence}`), ''] : []),
  ].join('\n');

/** docs/deployment-checks.md */
export function deploymentChecksPage() {
  const all = [...parts].sort(([a], [b]) => a.localeCompare(b));
  return [
    '# Deployment checks\n',
    'Printed from `deploy/check/results.json` by `npm run docs`.\n',
    'Checks on real engines, run by hand before a release: `npm run check:deploy`, or `npm run check:deploy -- <part>`. CI checks what needs no engine: the chart',
    '(`npx jest chart.int`), the compose file and the Dockerfile (`npx jest deploy/src`).\n',
    ...all.map(([name, part]) => section(name, part, results[name])),
  ].join('\n');
}
