import { parseArgs } from 'node:util';
import { isMet } from './evaluation.js';
import { evaluations } from './evaluations.js';
import { printReport } from './report.js';

const help = `npm run eval -- <evaluation>... [options]

${evaluations.map(({ id, title }) => `  ${id.padEnd(9)}${title}`).join('\n')}
  all      every one of them

  --json   figures as JSON, one object for all evaluations
  --set FILE               two-hop: paragraphs and questions of your own
  --embeddings URL,MODEL   two-hop: an embedding model, such as http://127.0.0.1:8000/v1,e5
`;

/** Code 1: a target is missed. 2: wrong use. */
async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      set: { type: 'string' },
      embeddings: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const unknown = positionals.filter((id) => id !== 'all' && !evaluations.some((evaluation) => evaluation.id === id));
  const chosen = positionals.includes('all') ? evaluations : evaluations.filter(({ id }) => positionals.includes(id));
  if (values.help || chosen.length === 0 || unknown.length > 0) {
    if (unknown.length > 0) process.stderr.write(`There is no evaluation ${unknown.join(', ')}.\n\n`);
    process.stdout.write(help);
    return values.help ? 0 : 2;
  }
  const results: Record<string, unknown> = {};
  let missed = 0;
  for (const evaluation of chosen) {
    const [url, model] = values.embeddings?.split(',') ?? [];
    const report = await evaluation.run({ set: values.set ?? null, embeddings: url && model ? { url, model } : null });
    missed += report.findings.filter((finding) => !isMet(finding)).length;
    results[evaluation.id] = { findings: report.findings.map((finding) => ({ ...finding, met: isMet(finding) })), ...report.figures };
    if (!values.json) console.log(`\n${evaluation.id}: ${evaluation.title}\n${printReport(report)}`);
  }
  if (values.json) console.log(JSON.stringify(results, null, 2));
  return missed > 0 ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')) throw error;
  process.stderr.write(`${(error as Error).message}\n\n${help}`);
  process.exitCode = 2;
}
