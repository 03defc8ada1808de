import { demoProvider, type Complexity, type PlanRequested, type SafetyTopic } from '@conclave/contracts';
import { asksNothing, complexityOf } from '@conclave/questions';
import { hasImage, complexityOfRequest } from '@conclave/strategies';
import type { LookupResult } from './lookup.js';

/** The complexity level of a run, and why. */
export interface RatedComplexity {
  readonly complexity: Complexity;
  readonly signals: string[];
  /** Category named by a marker in the question; null without one. */
  readonly category: string | null;
  /** Topics on which a wrong answer does harm; found even when a level is forced. */
  readonly safety: SafetyTopic[];
  /** What to look up before a request stays trivial: something about the world, or anything else; null for nothing. */
  readonly lookUp: 'world' | 'word' | null;
}

/** Categories of requests that no document answers. Any other may be about one, however it is worded: "explain the vacation policy". */
const written: ReadonlySet<string> = new Set(['creative_writer', 'translation']);

/**
 * The level forced by the request, else by the template, else read from the wording of the question, without a model call. An image
 * makes the level at least moderate: the vision expert must look first.
 */
export function levelOf(request: PlanRequested['data']): RatedComplexity {
  const read = levels.get(request);
  if (read) return read;
  const inWords = levelInWords(request);
  const level: RatedComplexity =
    inWords.complexity !== 'trivial' || !hasImage(request.attachments)
      ? inWords
      : { ...inWords, complexity: 'moderate', signals: [...inWords.signals, 'context:image'], lookUp: null };
  levels.set(request, level);
  return level;
}

/** Levels by request: a plan for a gap reads the same words as the first plan. */
const levels = new WeakMap<PlanRequested['data'], RatedComplexity>();

function levelInWords(request: PlanRequested['data']): RatedComplexity {
  const read = complexityOfRequest(request);
  const ofTemplate = request.template.complexity ?? 'moderate';
  const about = { category: read.category, safety: [...read.safety], lookUp: null };
  if (request.complexity) return { ...about, complexity: request.complexity, signals: ['forced:request'] };
  // A forced level does not apply to greetings and thanks, which need no plan.
  const isCourtesy = asksNothing(request.goal) && (request.attachments ?? []).length === 0;
  if (ofTemplate !== 'auto' && isCourtesy) return { ...about, complexity: 'trivial', signals: ['courtesy'] };
  if (ofTemplate !== 'auto') return { ...about, complexity: ofTemplate, signals: ['forced:template'] };
  const mayBeLookedUp = read.level === 'trivial' && !isCourtesy && !(read.category !== null && written.has(read.category));
  const lookUp = mayBeLookedUp ? (read.worldly ? 'world' : 'word') : null;
  return { ...about, complexity: read.level, signals: [...read.signals], lookUp };
}

/**
 * The level after the lookup. A trivial question becomes moderate if documents or earlier answers cover it, if the lookup was not
 * done in time, or if only the web could answer it; otherwise it stays trivial.
 */
export function raiseLevel(level: RatedComplexity, seen: LookupResult | null, searchesWeb: boolean): RatedComplexity {
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
 * Whether the models can answer the question only from a document: every model is the demo model, which quotes documents and leaves
 * sums to a tool. False when the request sets the level, a program reads the answer, or more than the wording matters.
 */
export function needsDocument(request: PlanRequested['data'], level: RatedComplexity): boolean {
  const { goal, template, conversation, attachments, answer } = request;
  if (level.complexity === 'trivial' || request.complexity !== undefined || (attachments ?? []).length > 0) return false;
  if (![template.planner, template.judge].every(({ models }) => models.every(isDemo))) return false;
  if (!Object.values(template.experts).every(({ t1, t2 = [] }) => [...t1, ...t2].every(isDemo))) return false;
  const format = answer.response_format;
  if (format !== undefined && format['type'] !== 'text') return false;
  const read = complexityOf(goal, { hasHistory: conversation.length > 0, hasAttachments: false });
  if (mayBeCalculated(goal, read.signals)) return false;
  // The topic of a later question may be in earlier turns; a request to write something is self-contained.
  return conversation.length === 0 || (!read.factual && !read.signals.includes('context:history'));
}
const isDemo = (model: string): boolean => model.endsWith(`@${demoProvider}`);
/** Whether a tool may answer: a question with a number in figures or words, for a tool that needs no number, or about one unit in another. */
const mayBeCalculated = (goal: string, signals: readonly string[]): boolean =>
  signals.includes('number') || signals.includes('tool') || numberInWords.test(goal) || ofOneUnit.test(goal) || sumInWords.test(goal);
const sumInWords = /\p{L} (?:plus|minus|multiplied by|divided by|geteilt durch|multipliziert mit) \p{L}/iu;
/** Number words above one, because "one" is an article in most languages. */
const numberInWords =
  /(?<!\p{L})(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\p{L}+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|billion|dozen|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\p{L}{3,}(?:zehn|zig)|\p{L}*hundert\p{L}*|\p{L}*tausend\p{L}*|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingt|trente|quarante|cinquante|soixante|cent|mille|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|trece|catorce|quince|dieci\p{L}+|veinti?\p{L}*|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien|mil)(?!\p{L})/iu;
const ofOneUnit =
  /(?:how many|wie ?viele|combien de|cu[aá]nt[oa]s) (?:\p{L}+ ){1,2}(?:are |is |make |sind |hat |there |it |y a-t-il |hay )*(?:(?:in|dans|en) )?(?:an?|one|eine[rm]?|une?|una)\s|^\p{L}+ (?:in|per) (?:an?|one) \p{L}+\W*$|how many ['"“]?\p{L}['"”’]?s? (?:are |is )?(?:there )?in\s/iu;

/**
 * The level of a question that needs a document, after the lookup: trivial if no document and nothing learned covers it. The answer
 * then only says who answers and what it can do, which is harmless on any topic.
 */
export function lowerLevel(level: RatedComplexity, seen: LookupResult | null): RatedComplexity {
  if (seen && (seen.documents || seen.learned || seen.late)) return level;
  return { ...level, complexity: 'trivial', signals: [...level.signals, 'lookup:nothing'], category: null, safety: [], lookUp: null };
}
