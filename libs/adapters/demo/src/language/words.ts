const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).filter(Boolean));

/** Words that say nothing about what is asked. */
const stopWords = set(`a an the this that these those such some any each every all both no not nor so too very just only also even still yet
  i you he she it we they me him her us them my your his its our their mine yours theirs himself herself itself themselves one ones
  and or but if then than as because many much how while whereas although though
  of in on at by for from to into onto with without within about over under through during before after between among against near along
  up down out off again further there here once ever never please tell give name find list say show know let
  can could would should will shall may might must do does did done doing be is am are was were been being have has had having get got`);

export const auxiliaries = set(
  'be is am are was were been being have has had do does did can could would should will shall may might must',
);
export const prepositions = set(
  'of in on at by for from to into onto with within about over under through during near along behind across between among',
);
export const determiners = set('the a an this that these those its his her their');
export const relatives = set('who whom that which where whose');
export const questionWords = set('who whom whose where when which what how why');
export const personPronouns = set('he she they');
export const thingPronouns = set('it this');
export const possessivePronouns = set('his her its their');
/** Nouns that stand for a person without saying anything of them. */
export const genericPeople = set('woman women man men person people somebody someone individual figure');
/** Nouns in front of or behind a name that only say what kind of thing bears it, and nouns that a question asks for. */
export const kindNouns = set(`city town village country state land region province county island place location district capital-city
  river lake sea mountain hill valley street square company firm works business organisation organization institute institution foundation society association
  club school college university academy museum library gallery theatre theater hospital church temple tower castle bridge lighthouse station ship boat
  train novel book poem play story film movie song opera symphony album painting picture sculpture statue poet newspaper magazine journal
  language currency year date day month century decade time era age number amount`);
const placeKinds = set('city town village country state land region province county island place location district birthplace hometown');
const timeKinds = set('year date day month century decade time era');
export const months = set('january february march april may june july august september october november december');
const honorifics = set('mr mrs ms dr sir dame lord lady professor prof captain king queen prince princess president');

export const isStopWord = (word: string): boolean => stopWords.has(word);
export const isHonorific = (word: string): boolean => honorifics.has(word.replace(/\.$/, ''));
export const isPlaceKind = (word: string): boolean => placeKinds.has(singular(word));
export const isTimeKind = (word: string): boolean => timeKinds.has(singular(word));
export const isKindNoun = (word: string): boolean => kindNouns.has(word) || kindNouns.has(singular(word));

const singular = (word: string): string => (word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/s$/, ''));

const irregular: Readonly<Record<string, string>> = {
  wrote: 'write',
  written: 'write',
  born: 'birth',
  birthplace: 'birth',
  birthday: 'birth',
  died: 'death',
  die: 'death',
  dies: 'death',
  dead: 'death',
  built: 'build',
  made: 'make',
  led: 'lead',
  taught: 'teach',
  won: 'win',
  ran: 'run',
  held: 'hold',
  grew: 'grow',
  grown: 'grow',
  drew: 'draw',
  drawn: 'draw',
  sold: 'sell',
  bought: 'buy',
  spoke: 'speak',
  spoken: 'speak',
  sang: 'sing',
  sung: 'sing',
  began: 'begin',
  begun: 'begin',
  flew: 'fly',
  wed: 'marry',
  fought: 'fight',
  stood: 'stand',
  lay: 'lie',
  lies: 'lie',
  lying: 'lie',
  rose: 'rise',
  risen: 'rise',
  known: 'name',
  called: 'name',
  gave: 'give',
  given: 'give',
  rode: 'ride',
  sailed: 'sail',
  kept: 'keep',
  found: 'found',
  lived: 'live',
  lives: 'live',
  living: 'live',
  set: 'set',
  came: 'come',
  went: 'go',
  mayor: 'mayor',
};

/** Light stemming: endings of number, tense and of the one who does it. The same for question and document, not for people to read. */
export function stem(word: string): string {
  let stemmed = irregular[word] ?? word;
  for (;;) {
    const shorter = stemmed
      .replace(/(ers|ors|ing|ed|er|or|ions|ion|es|s|e|y|i)$/, (ending) => (stemmed.length - ending.length >= 3 ? '' : ending))
      .replace(/([^aeiou])\1$/, '$1');
    if (shorter === stemmed) return stemmed;
    stemmed = shorter;
  }
}

/** Everyday English words for one relation, each line one relation; its first word names it. */
const relations = `
found establish founder foundation start create launch inception originate begin
write author novelist writer pen poet playwright
birth born birthplace native
death die dead
design designer architect plan
build builder construct construction erect
lead leader head chief director manage manager run chair chairman president direct
captain command commander skipper
rule ruler reign king queen govern governor
marry marriage wife husband spouse wed
invent inventor invention devise develop
discover discoverer discovery
flow run
locate location situate stand lie base headquarters seat
study student attend educate education graduate school train
work employ employee employer serve job
own owner belong possess buy purchase acquire
teach teacher tutor mentor instructor
live reside residence home dwell settle
open inaugurate inauguration
win winner award prize receive recipient
speak language
produce producer manufacture manufacturer make maker
publish publisher issue print
parent father mother
child son daughter
compose composer composition
paint painter
sculpt sculptor carve
name call title
keep keeper guardian
end close
`;
const relationsOf = new Map<string, string[]>();
for (const line of relations.trim().split('\n')) {
  const [name, ...words] = line.split(' ');
  for (const word of new Set([name!, ...words].map(stem))) relationsOf.set(word, [...(relationsOf.get(word) ?? []), `=${name}`]);
}
/** The relations a word may speak of ("run": lead, flow), or its stem. Words that share one may mean the same. */
export const meaningsOf = (word: string): readonly string[] => relationsOf.get(stem(word)) ?? [stem(word)];

/** Relations whose subject is the one in front of the word: "A's cousin B was born in C" says nothing of A. */
export const ofItsSubject: ReadonlySet<string> = new Set(['birth', 'death', 'study', 'live', 'work', 'speak'].map((name) => `=${name}`));

/** Relations that only say that something is somewhere. */
export const ofPlaces: ReadonlySet<string> = new Set(['=locate', '=flow']);

/** A noun that names somebody by what they do or are to somebody. */
export const isAgentNoun = (word: string): boolean =>
  /(er|or|ist|ian|ect|ress|man|woman)$/.test(word) ||
  /^(wife|husband|spouse|king|queen|poet|captain|chief|head|teacher|student|pupil|mother|son|native|recipient)$/.test(word);

/** Made things whose maker follows "by": "a novel by A", "an opera by B". */
export const madeBy: Readonly<Record<string, string>> = {
  novel: '=write',
  book: '=write',
  poem: '=write',
  play: '=write',
  story: '=write',
  essay: '=write',
  collection: '=write',
  opera: '=compose',
  symphony: '=compose',
  song: '=compose',
  painting: '=paint',
  portrait: '=paint',
  film: '=lead',
  building: '=design',
  bridge: '=design',
  statue: '=sculpt',
  sculpture: '=sculpt',
};
