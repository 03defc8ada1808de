import { demoProvider, type Complexity, type PlannedTask, type PlanRequested, type SafetyTopic } from '@conclave/contracts';
import { asksNothing, complexityOf } from '@conclave/questions';
import { hasImage } from '@conclave/strategies';
import type { Seen } from './lookup.js';

/** How much machinery a run gets, and why. */
export interface Level {
  readonly complexity: Complexity;
  readonly signals: string[];
  /** Category that a marker in the question names; null where none does. */
  readonly category: string | null;
  /** Topics on which a wrong answer does harm; found whatever level is forced. */
  readonly safety: SafetyTopic[];
  /** Of a trivial question what is looked up before it stays trivial: something about the world, or a word; null for none. */
  readonly lookUp: 'world' | 'word' | null;
}

/**
 * What the request forces, else what the template forces, else what the words of the question say. No model is asked. An image makes it
 * moderate at least: somebody has to look before anybody answers.
 */
export function levelOf(request: PlanRequested['data']): Level {
  const level = levelInWords(request);
  if (level.complexity !== 'trivial' || !hasImage(request.attachments)) return level;
  return { ...level, complexity: 'moderate', signals: [...level.signals, 'context:image'], lookUp: null };
}

function levelInWords(request: PlanRequested['data']): Level {
  const read = complexityOf(request.goal, {
    hasHistory: request.conversation.length > 0,
    hasAttachments: (request.attachments ?? []).length > 0,
  });
  const ofTemplate = request.template.complexity ?? 'moderate';
  const about = { category: read.category, safety: [...read.safety], lookUp: null };
  if (request.complexity) return { ...about, complexity: request.complexity, signals: ['forced:request'] };
  // A level is forced on questions: whoever greets or thanks asks nothing that would be worth a plan.
  const isCourtesy = asksNothing(request.goal) && (request.attachments ?? []).length === 0;
  if (ofTemplate !== 'auto' && isCourtesy) return { ...about, complexity: 'trivial', signals: ['courtesy'] };
  if (ofTemplate !== 'auto') return { ...about, complexity: ofTemplate, signals: ['forced:template'] };
  const lookUp = read.level !== 'trivial' || !read.factual ? null : read.worldly ? 'world' : 'word';
  return { ...about, complexity: read.level, signals: [...read.signals], lookUp };
}

/**
 * The level after a look: a trivial question of which documents or earlier answers have something to say is moderate, and so is one that
 * could not be looked up in time or that only the web could tell. One of which nothing is found stays trivial.
 */
export function raiseLevel(level: Level, seen: Seen | null, searchesWeb: boolean): Level {
  const why = seen?.documents
    ? 'lookup:documents'
    : seen?.learned
      ? 'lookup:learned'
      : seen?.late
        ? 'lookup:late'
        : searchesWeb && level.lookUp === 'world'
          ? 'lookup:web'
          : null;
  return why === null ? level : { ...level, complexity: 'moderate', signals: [...level.signals, why], lookUp: null };
}

/**
 * Whether a question is lost on its models unless a document speaks of it: the demo model alone plays every part, which quotes documents and
 * gives sums to a tool. Not where the level is asked for, a program reads the answer, or something besides the words has a say.
 */
export function needsDocument(request: PlanRequested['data'], level: Level): boolean {
  const { goal, template, conversation, attachments, answer } = request;
  if (level.complexity === 'trivial' || request.complexity !== undefined || (attachments ?? []).length > 0) return false;
  if (![template.planner, template.judge].every(({ models }) => models.every(isDemo))) return false;
  if (!Object.values(template.experts).every(({ t1, t2 = [] }) => [...t1, ...t2].every(isDemo))) return false;
  const format = answer.response_format;
  if (format !== undefined && format['type'] !== 'text') return false;
  const read = complexityOf(goal, { hasHistory: conversation.length > 0, hasAttachments: false });
  if (looksLikeSum.test(goal) || read.signals.some((signal) => signal === 'tool:calculation' || signal === 'tool:percentage')) return false;
  // What a later question of a chat is about may stand in the turns before it; an order for words speaks for itself.
  return conversation.length === 0 || (!read.factual && !read.signals.includes('context:history'));
}
const isDemo = (model: string): boolean => model.endsWith(`@${demoProvider}`);
const looksLikeSum = /\d\s*[-+*/^%×÷·−]\s*\(?\d|√/u;

/**
 * The level of a question that needs a document, after a look: trivial where none speaks of it, nor anything that was learned. All that is
 * answered then is who answers and what it can do, which no topic makes harmful.
 */
export function lowerLevel(level: Level, seen: Seen | null): Level {
  if (seen && (seen.documents || seen.learned || seen.late)) return level;
  return { ...level, complexity: 'trivial', signals: [...level.signals, 'lookup:nothing'], category: null, safety: [], lookUp: null };
}

/** The one task of a trivial question. */
export function trivialTask({ goal, template }: PlanRequested['data'], category: string | null): PlannedTask {
  const known = category !== null && Object.hasOwn(template.experts, category) ? category : 'general';
  return { id: 'x1', capability: `expert.${known}`, task: goal, query: null, needs: [], metadata_filters: null };
}
