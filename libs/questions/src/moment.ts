import { bothEnds } from './complexity/both-ends.js';
import { asksForNow } from './complexity/lookup.js';
import { phrases } from './complexity/phrases.js';
import { isUnread } from './unread.js';
import words from './assets/moment.json' with { type: 'json' };

const dependsOnDay = phrases(...words.dependsOnDay);

/**
 * Whether the answer depends on the day on which the question is asked: "tomorrow", "the latest", "how old is she", the weather. Errs on
 * the side of yes: an answer that is found again too rarely costs a run, an outdated one is wrong. Reads English and German, and says yes in other
 * languages; of a long text both ends are read.
 */
export function asksAboutToday(text: string): boolean {
  const read = bothEnds(text);
  return asksForNow.test(read) || dependsOnDay.test(read) || isUnread(read);
}
