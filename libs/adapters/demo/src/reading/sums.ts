/** Phrases around a sum, in English and German. Any other text means it is not a sum: "What happened in 1914-1918?" */
const frame =
  /(?:^|(?<=[\s,.!?]))(?:please|bitte|hello|hi|hallo|what(?:'s|’s)?|is|are|how much|was|ist|sind|wie ?viel|calculate|compute|evaluate|work out|berechne|rechne|ergibt|macht|gibt|the result of|equals?|gleich)(?=$|[\s,.!?=])/giu;

/** Operators written as words. */
const operators: readonly (readonly [RegExp, string])[] = [
  [/\bplus\b/giu, '+'],
  [/\bminus\b/giu, '-'],
  [/\b(?:times|multiplied by|mal)\b/giu, '*'],
  [/\b(?:divided by|geteilt durch|durch)\b/giu, '/'],
  [/(?<=\d)\s*x\s*(?=\d)/giu, '*'],
  [/\bvon\b/giu, 'of'],
];

/** The sum of a question as an expression for a calculator; null for any other question. */
export function sumIn(question: string): string | null {
  let text = question.replace(frame, ' ');
  for (const [words, sign] of operators) text = text.replace(words, sign);
  const sum = text.replace(/^[\s,!?:]+|[\s,!?=.:]+$/gu, '').replace(/\s+/g, ' ');
  const isSum = /^[\d\s.,+\-*/^%×÷·−√π()]+(?:of[\d\s.,]+)?$/u.test(sum) && /\d/.test(sum) && /[+*/^%×÷·√]|[\d)]\s*[-−]\s*[\d(]/u.test(sum);
  return isSum && sum.length <= 200 ? sum : null;
}

/** A tool's result for a sum, from the text of its fact: the JSON field `result`, or the text after the last colon. */
export function resultIn(fact: string): string | null {
  const json = /\{.*\}/s.exec(fact)?.[0];
  if (json !== undefined) {
    try {
      const { result } = JSON.parse(json) as { result?: unknown };
      if (typeof result === 'string' || typeof result === 'number') return String(result);
    } catch {
      // Not a calculator's reply.
      return null;
    }
  }
  return /:\s+(-?[\d.,/ ]+)(?:\s+\(decimal: [^)]*\))?$/.exec(fact.trim())?.[1]?.trim() ?? null;
}
