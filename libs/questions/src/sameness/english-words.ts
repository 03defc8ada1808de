import words from '../assets/english-words.json' with { type: 'json' };
import type { LanguageWords } from './lexicon.js';

export const englishWords: LanguageWords = {
  grammar: `a an the this that these those of in on at between among by to from into onto for with about as is are was were be been being am do does did
    done has have had having will would shall should can could may might must i you he she it we they me him her us them my your his its our
    their mine yours who whom whose which what when where why how and or but if then than so there here not no n't 's 're 've 'll 'd 'm
    ourselves yourself myself itself themselves oneself some any it's that's what's who's where's how's let let's s`,
  framing: `please kindly could can would tell give show explain describe list name find know want need like help let me us say called
    exactly really actually just simply best good way ways method step steps how-to properly correctly possible possibly take get go do make
    use using word term city town currently current now moment present people person one ones thing things happen happens happened place took
    lot anyone someone you'd i'd also right proper calculate compute stand stands contain contains containing connection connections route much many degrees degree form kind type exist exists existing statement sentence following mean means meaning definition define it hi hello hey thanks thank
    question wondering wonder interested information info detail details there`,
};

/** Within a line any word may stand for any other. Lower case, as written; inflected forms are reached through their stems too. */
export const englishSynonyms: readonly string[] = words.englishSynonyms;

/** The members of a family, parted by |, exclude one another: a question about one is never a question about another. */
export const englishOpposites: readonly string[] = words.englishOpposites;
