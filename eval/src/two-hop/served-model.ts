import { promptMarks } from '@conclave/contracts';
import type { ScriptedReply, ScriptedRequest } from '@conclave/test-support';
import { roleOf } from '@conclave/test-support/system';
import { bases, distinct, queryFrom, type Hit, type Planner } from './planners.js';

/** How the model of a served run forms the query of the second hop. */
export type ServedPlanner = Exclude<Planner, 'single' | 'ideal'>;

interface Asked {
  plans: number;
  /** What the first search found, as the prompts of the run show it. */
  found: readonly Hit[];
}

const textOf = ({ messages }: ScriptedRequest): string => messages.map(({ content }) => String(content)).join('\n');

/** The numbered facts under a heading: `[n] text — title <url or ->`. */
function factsUnder(heading: string, text: string): readonly Hit[] {
  const { open, close } = promptMarks.data;
  const from = text.indexOf(`${heading}\n${open}`);
  if (from < 0) return [];
  const facts = text.slice(from, text.indexOf(close, from)).split('\n');
  return facts.flatMap((line) => {
    const [, body, title] = /^\[\d+\] (.*) — (.*) <[^<>]*>$/u.exec(line) ?? [];
    return body === undefined || title === undefined ? [] : [{ title, text: body }];
  });
}

/**
 * Plays every part of a committee by rules: it searches for the question, then for what the two best hits lead to, and then reports that
 * nothing is missing. It sees only those parts of the documents that the prompts of the run contain.
 */
export class ServedModel {
  private readonly asked = new Map<string, Asked>();

  constructor(
    private readonly capability: 'research' | 'collections',
    private readonly planner: ServedPlanner,
  ) {}

  reply(request: ScriptedRequest): ScriptedReply {
    return { text: this.textFor(request) };
  }

  private textFor(request: ScriptedRequest): string {
    switch (roleOf(request)) {
      case 'planner':
        return this.plan(questionIn(request));
      case 'expert':
        return this.answer(request);
      case 'assessor':
        return this.about(questionIn(request)).plans > 1
          ? 'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none'
          : 'COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: what the texts that were found lead to\nNEXT_FOCUS: what the texts that were found lead to';
      case 'learner':
        return '[]';
      case 'adviser':
        return JSON.stringify({ hints: [] });
      case 'scorer':
        return JSON.stringify({ scores: [] });
      case 'critic':
        return JSON.stringify({ verdict: 'confirmed', reasons: [] });
      case 'thinker':
        return 'CONCLUSION: see what was found.';
      default:
        return 'See what was found [1].';
    }
  }

  private plan(question: string): string {
    const about = this.about(question);
    const round = (about.plans += 1);
    const { planner } = this;
    const queries = round === 1 ? [question] : about.found.slice(0, bases).map((hit) => queryFrom(hit, question, planner));
    const searches = [...new Set(queries)].map((query, n) => ({
      id: `s${n + 1}`,
      capability: this.capability,
      task: `Search ${n + 1} of plan ${round}`,
      search_query: query,
    }));
    const reader = { id: 'x1', capability: 'expert.general', task: `Say what the searches of plan ${round} found.` };
    return JSON.stringify({ tasks: [...searches, { ...reader, needs: searches.map(({ id }) => id) }] });
  }

  private answer(request: ScriptedRequest): string {
    const about = this.about(questionIn(request));
    if (about.plans === 1) about.found = distinct(factsUnder(promptMarks.evidence, textOf(request)));
    return `The searches of plan ${about.plans} were read.\nFINDING: The searches of plan ${about.plans} were read.\nCONFIDENCE: 0.6\nGAPS: none\nREFER: none`;
  }

  private about(question: string): Asked {
    const known = this.asked.get(question) ?? { plans: 0, found: [] };
    this.asked.set(question, known);
    return known;
  }
}

/** The question of a prompt: the rest of the line with its mark. */
function questionIn(request: ScriptedRequest): string {
  const found = /(?:^|\n)(?:ORIGINAL )?QUESTION: (.*)/u.exec(textOf(request))?.[1];
  if (found === undefined) throw new Error('A prompt has no question.');
  return found.trim();
}
