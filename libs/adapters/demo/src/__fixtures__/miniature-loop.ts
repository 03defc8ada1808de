import { promptMarks as marks } from '@conclave/contracts';
import type { CallMessage, Models } from '@conclave/ports';
import type { Document } from './generated-cases.js';

export interface LoopOutcome {
  readonly answer: string;
  readonly searches: readonly string[];
  readonly gaps: readonly string[];
  /** Every `[n]` of the answer -> title of the document. */
  readonly facts: readonly Document[];
}

const words = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Matches any word; rare words count more. Like the embedded full-text search. */
export function searchIn(corpus: readonly Document[], query: string, limit: number): readonly Document[] {
  const holds = corpus.map((document) => new Set(words(`${document.title} ${document.text}`)));
  const stop = new Set(['the', 'of', 'in', 'was', 'a', 'is', 'and', 'by', 'to', 'at', 'on']);
  const asked = [...new Set(words(query))].filter((word) => !stop.has(word));
  const score = (held: ReadonlySet<string>): number =>
    asked.reduce((sum, word) => sum + (held.has(word) ? 1 / holds.filter((other) => other.has(word)).length : 0), 0);
  return corpus
    .map((document, index) => ({ document, score: score(holds[index]!) }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map((hit) => hit.document);
}

const system = (content: string): CallMessage => ({ role: 'system', content });
const user = (content: string): CallMessage => ({ role: 'user', content });
const data = (text: string): string => `${marks.data.open}\n${text}\n${marks.data.close}`;

/** plan -> search -> gap -> re-plan -> compose, with the prompts' fixed lines and without the real engine. */
export async function runLoop(
  models: Models,
  question: string,
  corpus: readonly Document[],
  maxReplans = 3,
  perSearch = 2,
): Promise<LoopOutcome> {
  const ask = async (...messages: CallMessage[]): Promise<string> => {
    const reply = await models.call({ model: 'conclave-demo@demo', messages, timeoutMs: 10_000 }, { signal: new AbortController().signal });
    return reply.content;
  };
  const facts: Document[] = [];
  const searches: string[] = [];
  const gaps: string[] = [];
  const numbered = (): string => facts.map(({ title, text }, index) => `[${index + 1}] ${text} — ${title} <->`).join('\n');
  let focus = '';
  let open = '';
  for (let round = 0; round <= maxReplans; round += 1) {
    const block =
      round === 0
        ? ''
        : [
            marks.replan.head(round, maxReplans),
            marks.replan.established,
            data(numbered() || 'none'),
            marks.replan.unresolved,
            data(open),
            marks.replan.instructions,
            `${marks.replan.nextFocus} ${focus}`,
            marks.replan.tried,
            ...searches.map((query) => `- ${query.toLowerCase()} (facts)`),
            '',
          ].join('\n');
    const catalogue = `${marks.capabilities}\n- expert.general: an expert\n- research: searches documents`;
    const plan = JSON.parse(await ask(system(`${block}${marks.roles.planner}\n\n${catalogue}`), user(`${marks.question} ${question}`))) as {
      tasks: { capability: string; search_query?: string }[];
    };
    for (const task of plan.tasks.filter(({ capability }) => capability === 'research')) {
      searches.push(task.search_query!);
      for (const hit of searchIn(corpus, task.search_query!, perSearch)) if (!facts.includes(hit)) facts.push(hit);
    }
    const verdict = await ask(
      system(marks.roles.assessor),
      user(
        `Based on the original question and the current answer, assess completion:\n${marks.gapCheck.question} ${question}\n${marks.gapCheck.answer} ${data(numbered())}\nReply ONLY in this exact format:\n${marks.gapCheck.status} …`,
      ),
    );
    const [status, gap, next] = verdict.split('\n');
    open = '';
    if (status === `${marks.gapCheck.status} ${marks.gapCheck.complete}`) break;
    open = gap!.slice(marks.gapCheck.gap.length).trim();
    focus = next!.slice(marks.gapCheck.nextFocus.length).trim();
    gaps.push(open);
  }
  const answer = await ask(
    system(marks.roles.composer),
    user(
      [`${marks.question} ${question}`, `${marks.facts}\n${data(numbered())}`, ...(open ? [`${marks.stillOpen} ${open}`] : [])].join(
        '\n\n',
      ),
    ),
  );
  return { answer, searches, gaps, facts };
}
