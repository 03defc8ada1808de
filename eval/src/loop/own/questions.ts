import * as z from 'zod';

const texts = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
  .transform((value) => (typeof value === 'string' ? [value] : value));

/** One line of a file of questions: a question with titles of the documents that answer it, with accepted answers, or with both. */
const Line = z
  .strictObject({ question: z.string().trim().min(1), titles: texts.optional(), answers: texts.optional() })
  .refine(({ titles, answers }) => titles !== undefined || answers !== undefined, {
    error: 'needs `titles` (documents that answer it) or `answers` (accepted answers)',
  });

export interface OwnQuestion {
  /** Number of its line, from 1. */
  readonly line: number;
  readonly question: string;
  /** All of them must be found; null if none are given. */
  readonly titles: readonly string[] | null;
  /** One of them must be in the answer; null if none are given. */
  readonly answers: readonly string[] | null;
}

export interface InvalidLine {
  readonly line: number;
  readonly why: string;
}

/** The questions of a JSON Lines file, and its invalid lines. Empty lines are left out. */
export function readQuestions(text: string): { readonly questions: readonly OwnQuestion[]; readonly invalid: readonly InvalidLine[] } {
  const questions: OwnQuestion[] = [];
  const invalid: InvalidLine[] = [];
  text.split(/\r?\n/).forEach((content, at) => {
    const line = at + 1;
    if (content.trim() === '') return;
    const parsed = Line.safeParse(json(content));
    if (parsed.success) {
      const { question, titles = null, answers = null } = parsed.data;
      questions.push({ line, question, titles, answers });
    } else {
      const { path, message } = parsed.error.issues[0]!;
      invalid.push({
        line,
        why: json(content) === undefined ? 'it is not JSON' : `${path.length > 0 ? `\`${path.join('.')}\`: ` : ''}${message}`,
      });
    }
  });
  return { questions, invalid };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Reported by the caller with the number of the line.
    return undefined;
  }
}
