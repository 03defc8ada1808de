import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const folder = 'docs/decisions';

/** The list of decisions, newest first: date and title of each page, and what it says beside its date, such as what replaced it. */
export function decisionsPage() {
  const rows = readdirSync(folder)
    .filter((name) => /^\d{4}-\d\d-\d\d-.*\.md$/.test(name))
    .sort()
    .reverse()
    .map(rowOf);
  return `# Decisions

<!-- Printed by \`npm run docs\` from the pages of this folder. -->

Each page has a context, a decision and its consequences, as they were on its date. Measured figures are those of that day; where the code has changed since, the page says so.

| Date | Decision |
|---|---|
${rows.join('\n')}
`;
}

function rowOf(name) {
  const text = readFileSync(join(folder, name), 'utf8');
  const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
  const note = /^Date: \S+\. (.+)$/m.exec(text)?.[1];
  return `| ${name.slice(0, 10)} | [${title}](${name})${note ? `. ${note}` : ''} |`;
}
