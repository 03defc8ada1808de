import { phrases } from './phrases.js';

const backward = phrases(
  'it', 'its', 'that', 'this', 'these', 'those', 'they', 'them', 'their', 'he', 'him', 'his', 'she', 'her', 'there', 'then', 'one', 'ones', 'the (?:first|second|third|last|other|same|former|latter)', 'again', 'instead', 'also', 'too', 'more', 'less', 'else', 'another', 'above', 'previous(?:ly)?', 'earlier', 'you (?:said|wrote|mentioned)', 'so', '(?:short|long|simpl|bett|detail)\\p{L}*er', 'continue', 'go on', 'rephrase', 'what about', 'how about', 'and', 'but', 'why not',
  'es', 'das', 'dies(?:e[rnsm]?)?', 'jene[rnsm]?', 'er', 'ihn', 'ihm', 'sie', 'ihr(?:e[rnsm]?)?', 'sein(?:e[rnsm]?)?', 'da', 'dort', 'dann', 'davon', 'dafür', 'dazu', 'damit', 'daran', 'darüber', 'dabei', 'dagegen', 'deswegen', 'der (?:erste|zweite|dritte|letzte|andere)', 'die (?:erste|zweite|dritte|letzte|andere)', 'ander\\p{L}*', 'nochmals?', 'noch (?:mal|einmal|ein\\p{L}*)', 'stattdessen', 'auch', 'mehr', 'weniger', 'oben', 'vorhin', 'vorher', 'kürzer', 'länger', 'einfacher', 'genauer', 'ausführlicher', 'weiter', 'und', 'aber', 'du (?:gesagt|geschrieben)', 'hast du',
); // prettier-ignore

/** A follow-up that is not understood alone: it points back, or is too short to stand by itself. Courtesy alone asks nothing. */
export const leansOnHistory = (request: string, words: number): boolean =>
  /[\p{L}\p{N}]/u.test(request) && (words <= 3 || (words <= 25 && backward.test(request)));
