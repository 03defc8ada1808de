/** Characters at the beginning of a prompt in which an application says what it wants. */
const opening = 800;

const verb = /\b(?:rephras|rewrit|reformulat|condens|generat|transform|convert|refin)\w*/iu;
/** What an application wants to search with, and a user rarely asks for. */
const wanted =
  /\b(?:stand-?alone|full user|refined|search)\b[^.\n]{0,40}\b(?:question|query|queries)\b|\bfollow[- ]?up (?:questions?|quer(?:y|ies)|inputs?|messages?)\b[^.\n]{0,40}\binto\b/iu;
/** The chat that the question continues: a heading or label of its own, or a block. */
const history =
  /(?:^|[\n>]| {2})[\s#*]{0,12}(?:(?:previous|past|earlier) )?(?:chat|conversation|message)(?: history)?\s?(?:\*{0,2}:|:\*{0,2})|<(?:chat[ _-]?history|conversation|history)>/iu;

/**
 * Whether a prompt asks to write the last question of a chat anew, so that an application can search with it; recognised by what such a
 * prompt has to say: what is wanted, at its beginning, and the chat that the question continues. English only.
 */
export function asksForQuery(text: string): boolean {
  const begins = text.trimStart().slice(0, opening);
  return verb.test(begins) && wanted.test(begins) && history.test(text);
}
