import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { loadExtensions } from '@conclave/extensions';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import type { EvaluationReport } from '../../evaluation.js';
import { percent, printReport, table } from '../../report.js';
import { interval } from '../two-hops.js';
import { MaterialMistake, type OwnMaterial } from './material.js';
import { measure, type Answered } from './measure.js';
import { plotOf } from './plot.js';
import { readQuestions } from './questions.js';

/** Asks the user's questions of each template, and writes report, plot and single answers. Throws MaterialMistake. */
export async function measureOwn(material: OwnMaterial): Promise<EvaluationReport> {
  const { signal, terminal, parallel, localServers } = material;
  const { questions, invalid } = readQuestions(readText(material.questions));
  for (const { line, why } of invalid) terminal.write(`${material.questions}:${line}: left out: ${why}\n`);
  if (questions.length === 0)
    throw new MaterialMistake(`${material.questions} has no valid question. A line looks like {"question": "...", "titles": ["..."]}.`);
  const documents = material.documents === null ? null : folderOf(material.documents);
  const loaded = material.loaded ?? loadConfiguration(process.env, process.cwd(), { categories: Object.keys(expertPrompts) });
  if (loaded.configuration.extensions.length > 0) await loadExtensions(loaded.configuration);
  const files = filesOf(material.report);
  rmSync(files.answers, { force: true });
  const { templates, all } = await measure({
    ...{
      loaded,
      documents,
      questions,
      templates: material.templates,
      parallel,
      signal,
      terminal,
      ...(localServers ? { localServers } : {}),
    },
    onAnswered: (answered, done, of) => {
      appendFileSync(files.answers, `${JSON.stringify(answered)}\n`);
      terminal.write(`${progressLine(answered, done, of)}\n`);
    },
  });
  const measured = templates.map((template) =>
    summaryOf(
      template,
      all.filter((one) => one.template === template),
    ),
  );
  const report = reportOf(material, measured, { questions: questions.length, invalid, cancelled: signal.aborted });
  writeFileSync(files.plot, plotted(measured));
  writeFileSync(
    files.report,
    `# Templates on ${basename(material.questions)}\n\n\`\`\`\n${printReport(report)}\n\`\`\`\n\n![](${basename(files.plot)})\n`,
  );
  terminal.write(`Report: ${files.report}, plot: ${files.plot}, answers: ${files.answers}\n`);
  return report;
}

const filesOf = (report: string) => {
  const base = report.replace(/\.md$/, '');
  return { report: `${base}.md`, plot: `${base}.svg`, answers: `${base}.jsonl` };
};

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new MaterialMistake(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function folderOf(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new MaterialMistake(`${path} is not a folder of documents.`);
  return resolve(path);
}

const progressLine = ({ template, line, outcome, right, found, calls, seconds }: Answered, done: number, of: number): string =>
  [
    `[${done}/${of}] ${template}, line ${line}: ${outcome}`,
    ...(right === null ? [] : [right ? 'right' : 'wrong']),
    ...(found === null ? [] : [found ? 'found' : 'not all found']),
    `${calls} calls, ${seconds.toFixed(1)} s`,
  ].join(', ');

interface Share {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}
interface Summary {
  readonly template: string;
  readonly asked: number;
  readonly accuracy: Share | null;
  readonly recall: Share | null;
  readonly calls: number;
  readonly tokens: number;
  readonly cost: number;
  readonly seconds: number;
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

function shareOf(values: readonly (boolean | null)[]): Share | null {
  const known = values.filter((value) => value !== null).map(Number);
  if (known.length === 0) return null;
  const [low, high] = interval(known);
  return { share: mean(known), low, high };
}

const summaryOf = (template: string, answered: readonly Answered[]): Summary => ({
  template,
  asked: answered.length,
  accuracy: shareOf(answered.map(({ right }) => right)),
  recall: shareOf(answered.map(({ found }) => found)),
  calls: mean(answered.map(({ calls }) => calls)),
  tokens: mean(answered.map(({ tokens }) => tokens)),
  cost: mean(answered.map(({ cost }) => cost)),
  seconds: mean(answered.map(({ seconds }) => seconds)),
});

const shareText = (share: Share | null): string =>
  share === null ? '-' : `${percent(share.share)} [${percent(share.low)} to ${percent(share.high)}]`;

function reportOf(
  { questions: file, documents }: OwnMaterial,
  measured: readonly Summary[],
  { questions, invalid, cancelled }: { questions: number; invalid: ReturnType<typeof readQuestions>['invalid']; cancelled: boolean },
): EvaluationReport {
  const hasCost = measured.some(({ cost }) => cost > 0);
  const asked = measured.reduce((sum, one) => sum + one.asked, 0);
  return {
    definition: [
      `${questions} questions of ${file}, ${documents ? `documents of ${documents}` : 'what the configuration searches'}, each template in its own data folder, without caches.`,
      'Accuracy: share of the answers that contain an accepted answer as whole words. Recall: share of the questions whose gold titles are all among the sources of the facts.',
      'Both with their 95 % bootstrap interval. Calls, tokens and seconds are means of one question.',
    ],
    sections: [
      {
        title: 'Templates',
        lines: table(
          ['template', 'asked', 'accuracy', 'recall', 'calls', 'tokens', ...(hasCost ? ['cost'] : []), 'seconds'],
          measured.map((one) => [
            one.template,
            String(one.asked),
            shareText(one.accuracy),
            shareText(one.recall),
            one.calls.toFixed(1),
            one.tokens.toFixed(0),
            ...(hasCost ? [one.cost.toFixed(5)] : []),
            one.seconds.toFixed(1),
          ]),
        ),
      },
    ],
    findings: [],
    notes: [
      ...(cancelled
        ? [`It was cancelled after ${asked} of ${questions * measured.length} answers: the figures cover the answers that were received.`]
        : []),
      ...invalid.map(({ line, why }) => `Line ${line} of ${file} was left out: ${why}.`),
    ],
    figures: { templates: measured, invalid },
    cancelled,
  };
}

/** Accuracy against cost; recall if no answers are given, tokens if no prices are known. */
function plotted(measured: readonly Summary[]): string {
  const hasAnswers = measured.some(({ accuracy }) => accuracy !== null);
  const hasCost = measured.some(({ cost }) => cost > 0);
  const what = hasAnswers ? 'accuracy' : 'recall';
  const against = hasCost ? 'cost' : 'tokens';
  const points = measured.flatMap((one) => {
    const share = hasAnswers ? one.accuracy : one.recall;
    return share ? [{ name: one.template, cost: one[against], ...share }] : [];
  });
  return plotOf(points, {
    title: `${what[0]!.toUpperCase()}${what.slice(1)} against ${against}`,
    costs: `${against} of one question`,
    shares: `${what}, with its 95 % interval`,
  });
}
