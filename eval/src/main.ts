import { parseArgs } from 'node:util';
import { Failure } from '@conclave/contracts';
import { isMet } from './evaluation.js';
import { evaluations } from './evaluations.js';
import { MaterialMistake, usualTemplates } from './loop/own/material.js';
import { printReport } from './report.js';

const help = `npm run eval -- <evaluation>... [options]

${evaluations.map(({ id, title }) => `  ${id.padEnd(9)}${title}`).join('\n')}
  all      every one of them

  --json   figures as JSON, one object for all evaluations
  --set FILE               two-hop: your own paragraphs and questions
  --pairs FILE             cache: your own pairs of questions, tab-separated; each line ends with 1 (the same) or 0
  --embeddings URL,MODEL   two-hop, cache: an embedding model, such as http://127.0.0.1:8000/v1,e5
  --questions FILE         loop: your own questions instead, one JSON object a line, with "titles" of the documents that
                           answer it, accepted "answers", or both; asked of the models of conclave.yaml or OPENAI_BASE_URL
  --documents FOLDER       loop: text and Markdown documents to answer from; what the configuration searches by default
  --templates A,B          loop: templates to compare; ${usualTemplates.join(', ')} by default
  --parallel N             loop: questions asked at the same time, 1 by default
  --report FILE            loop: where the report goes, loop-report.md by default; plot and single answers beside it
  --served                 two-hop: ask the built program over HTTP, with the template conclave
`;

/** Code 1: a target is missed. 2: wrong use. 130: interrupted. */
async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      set: { type: 'string' },
      pairs: { type: 'string' },
      questions: { type: 'string' },
      documents: { type: 'string' },
      templates: { type: 'string' },
      parallel: { type: 'string', default: '1' },
      report: { type: 'string', default: 'loop-report.md' },
      embeddings: { type: 'string' },
      served: { type: 'boolean', default: false },
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
  const parallel = Number(values.parallel);
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > 64)
    throw new MaterialMistake('--parallel must be a whole number from 1 to 64.');
  if (values.questions !== undefined && (chosen.length > 1 || chosen[0]!.id !== 'loop'))
    throw new MaterialMistake('--questions is only for the evaluation loop: npm run eval -- loop --questions FILE.');
  if (values.questions === undefined && (values.documents !== undefined || values.templates !== undefined))
    throw new MaterialMistake('--documents and --templates need --questions.');
  const own =
    values.questions === undefined
      ? null
      : {
          ...{ questions: values.questions, documents: values.documents ?? null, report: values.report, parallel },
          templates: values.templates?.split(',').map((id) => id.trim()) ?? null,
          ...{ signal: givenUp(), terminal: process.stderr },
        };
  const results: Record<string, unknown> = {};
  let missed = 0;
  let cancelled = false;
  for (const evaluation of chosen) {
    const [url, model] = values.embeddings?.split(',') ?? [];
    const report = await evaluation.run({
      set: values.set ?? null,
      pairs: values.pairs ?? null,
      embeddings: url && model ? { url, model } : null,
      served: values.served,
      own,
    });
    missed += report.findings.filter((finding) => !isMet(finding)).length;
    results[evaluation.id] = { findings: report.findings.map((finding) => ({ ...finding, met: isMet(finding) })), ...report.figures };
    if (report.cancelled) cancelled = true;
    if (!values.json) console.log(`\n${evaluation.id}: ${evaluation.title}\n${printReport(report)}`);
  }
  if (values.json) console.log(JSON.stringify(results, null, 2));
  return cancelled ? 130 : missed > 0 ? 1 : 0;
}

/** Aborts at the first signal to end, so that the measured results are kept; the second one ends the process. */
function givenUp(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (): void => (stop.signal.aborted ? process.exit(130) : stop.abort());
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return stop.signal;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof MaterialMistake || error instanceof Failure) {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
  if (!(error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')) throw error;
  process.stderr.write(`${(error as Error).message}\n\n${help}`);
  process.exitCode = 2;
}
