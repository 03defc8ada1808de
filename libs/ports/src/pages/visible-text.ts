/** The visible part of a foreign text, and how much was removed. */
export interface VisibleText {
  readonly text: string;
  /** Code points removed. */
  readonly removed: number;
}

/** Joiners that affect display: between letters of scripts that use them, and inside emoji. */
const joiner =
  /(?<=[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Mongolian}\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])[\u200C\u200D](?=[\p{L}\p{M}\p{Extended_Pictographic}])/gu;

/**
 * Controls, soft hyphens, zero-width and filler characters, direction marks, annotation anchors, tags and supplementary variation
 * selectors: a model reads them, a person does not see them.
 */
const unseen =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- these very characters are looked for, one by one
  /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]/gu;

const keptPlace = '\uE000';
const kept: Readonly<Record<string, string>> = { '\u200C': `${keptPlace}0`, '\u200D': `${keptPlace}1` };

/** Removes invisible characters and normalises line ends. Linear in the text; never changes prose. */
export function visibleText(text: string): VisibleText {
  const lines = text.replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n').replaceAll(keptPlace, '');
  let removed = 0;
  const seen = lines
    .replace(joiner, (sign) => kept[sign]!)
    .replace(unseen, () => {
      removed += 1;
      return '';
    })
    .replace(/\uE000([01])/g, (_whole, which: string) => (which === '0' ? '\u200C' : '\u200D'));
  return { text: seen.replace(/\p{Surrogate}/gu, '\uFFFD'), removed };
}

/** The first characters of a text, never splitting a surrogate pair. */
export const firstCharacters = (text: string, count: number): string =>
  text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(count - 1)) ? count - 1 : count);

/** Phrases that address a model instead of a reader, English and German. Each is bounded, so that hostile text costs linear time. */
const speaksToModels: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\s{1,5}(?:(?:all|any|the|your|my|of|these|every)\s{1,5}){0,4}(?:previous|prior|above|earlier|preceding|foregoing|system)\s{1,5}(?:instruction|prompt|rule|direction|message|guideline|context)s?\b/i,
  /\b(?:ignoriere?n?|vergiss|vergessen|missachten?|verwirf)\s{1,5}(?:(?:sie|alle|die|deine|ihre|s\u00e4mtliche|jede)\s{1,5}){0,4}(?:vorherigen?|bisherigen?|vorigen?|obigen?|fr\u00fcheren?|vorangegangenen?)\s{1,5}(?:anweisung|instruktion|regel|vorgabe|befehl|nachricht)(?:en|e|n)?(?![\p{L}])/iu,
  /\b(?:new|updated|real)\s{1,5}(?:system\s{1,5})?(?:instructions|prompt)\s{0,5}:/i,
  /\bneue\s{1,5}(?:system)?anweisung(?:en)?\s{0,5}:/i,
  /\b(?:reveal|print|repeat|show|output|leak)\s{1,5}(?:me\s{1,5})?(?:your|the)\s{1,5}(?:hidden\s{1,5}|full\s{1,5}|entire\s{1,5})?system\s{1,5}prompt\b/i,
  /\byou\s{1,5}are\s{1,5}now\s{1,5}(?:a|an|in|the|no\s{1,5}longer)\b[^.\n]{0,60}\b(?:mode|assistant|ai|model|bot|unrestricted|jailbroken|dan)\b/i,
  /\bdo\s{1,5}not\s{1,5}(?:tell|inform|mention\s{1,5}(?:this\s{1,5})?to)\s{1,5}the\s{1,5}user\b/i,
  /\b(?:sage?|verrate?|erw\u00e4hne?)\s{1,5}(?:es\s{1,5}|dies\s{1,5})?dem\s{1,5}(?:nutzer|benutzer|anwender)\s{1,5}nichts?\b/iu,
  /<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>/i,
  /\[\/?INST\]|<<\/?SYS>>/,
  /^\s{0,10}#{2,4}\s{0,5}(?:system|instruction)s?\s{0,5}:?\s{0,5}$/im,
];

/** Quotes phrases that read like instructions to a model, at most 120 characters each. The text itself stays unchanged. */
export function speechToModels(text: string): readonly string[] {
  return speaksToModels.flatMap((wording) => {
    const found = wording.exec(text);
    return found ? [found[0].replace(/\s+/g, ' ').trim().slice(0, 120)] : [];
  });
}

/**
 * Notices about a foreign text: that something was removed from it, and that it addresses a model. They quote no part of the text, because
 * they appear outside the fence around it.
 */
export const noticesAbout = (text: string, removed: number): readonly string[] => [
  ...(removed > 0 ? [`${removed} invisible ${removed === 1 ? 'character was' : 'characters were'} removed.`] : []),
  ...(speechToModels(text).length > 0 ? ['Some of its text addresses a model instead of a reader; it is kept as quoted data.'] : []),
];
