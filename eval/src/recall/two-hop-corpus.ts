/** A paragraph with its title, as a file of a folder or as an uploaded document. */
export interface Paragraph {
  readonly title: string;
  readonly text: string;
}
/** A question whose answer is in two paragraphs. */
export interface TwoGold {
  readonly question: string;
  readonly gold: readonly [string, string];
}

/** Numbers that look random and are the same in every run: a linear congruence (Numerical Recipes). */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

const first = [
  'Mara',
  'Tobin',
  'Ysolde',
  'Kester',
  'Linnea',
  'Oswin',
  'Petra',
  'Ruben',
  'Sanna',
  'Ulric',
  'Verena',
  'Wendel',
  'Ada',
  'Bruno',
  'Carla',
  'Dorian',
  'Elin',
  'Fabian',
];
const last = [
  'Halvorsen',
  'Brandt',
  'Quist',
  'Moreau',
  'Tarrant',
  'Okafor',
  'Lindqvist',
  'Varga',
  'Pell',
  'Sorensen',
  'Achterberg',
  'Dunmore',
  'Kowal',
  'Iversen',
  'Rask',
  'Thorne',
];
const placeStart = [
  'Alder',
  'Birk',
  'Crow',
  'Dun',
  'Elm',
  'Fen',
  'Gull',
  'Hart',
  'Iver',
  'Kell',
  'Lang',
  'Moor',
  'Nether',
  'Ox',
  'Port',
  'Raven',
];
const placeEnd = ['by', 'ford', 'haven', 'holm', 'mere', 'stead', 'ton', 'wick'];
const trades = ['clock', 'glass', 'paper', 'rope', 'salt', 'tile', 'bell', 'dye', 'candle', 'lens'];
const arts = ['novel', 'opera', 'film', 'ballet', 'symphony', 'play'];
const filler = [
  'The work was well received at the time and was shown in several towns.',
  'Records of these years are few, and some of them were lost in a fire.',
  'It is mentioned in a guide to the region that appeared in the following decade.',
  'Letters about it are kept in the archive of the county.',
  'Visitors came from far away, above all in the summer months.',
];

/**
 * Paragraphs about people, towns, companies and works with made-up names, each beside others with the same structure, and questions over
 * two of them: a comparison names both, a bridge names one and a statement about the other.
 */
export function twoHopCorpus(
  size: number,
  seed = 7,
): { readonly paragraphs: readonly Paragraph[]; readonly questions: readonly TwoGold[] } {
  const next = numbers(seed);
  const any = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
  const used = new Set<string>();
  const fresh = (make: () => string): string => {
    for (let tries = 0; tries < 200; tries += 1) {
      const name = make();
      if (used.has(name)) continue;
      used.add(name);
      return name;
    }
    throw new Error('The lists of names are too short for a corpus of this size.');
  };
  const paragraphs: Paragraph[] = [];
  const questions: TwoGold[] = [];
  const person = (town: string): string => {
    const name = fresh(() => `${any(first)} ${any(last)}`);
    const born = 1820 + Math.floor(next() * 130);
    paragraphs.push({
      title: name,
      text: `${name} (born ${born} in ${town}) was a ${any(['founder', 'painter', 'teacher', 'engineer', 'composer', 'director'])} of some renown. ${any(filler)} ${any(filler)}`,
    });
    return name;
  };
  while (paragraphs.length < size) {
    const town = fresh(() => `${any(placeStart)}${any(placeEnd)}`.concat(any(['', ' Green', ' Hill', ' Cross'])));
    paragraphs.push({ title: town, text: `${town} is a town on the river ${any(placeStart)}water. ${any(filler)} ${any(filler)}` });
    const [one, other] = [person(town), person(any(paragraphs).title)];
    const trade = any(trades);
    const company = fresh(() =>
      `${any(placeStart)}${any(['light', 'stone', 'field', 'crest'])} ${trade} company`.replace(/\b\w/g, (sign) => sign.toUpperCase()),
    );
    paragraphs.push({
      title: company,
      text: `The ${company} made ${trade}s of every kind. It was founded by ${one} with money of the family. ${any(filler)}`,
    });
    const art = any(arts);
    const work = fresh(
      () =>
        `The ${any(['Silent', 'Winter', 'Amber', 'Last', 'Hollow', 'Pale', 'Second', 'Northern'])} ${any(['Harbour', 'Orchard', 'Lantern', 'Garden', 'Voyage', 'Bridge', 'Mirror', 'Meadow'])} (${art})`,
    );
    paragraphs.push({
      title: work,
      text: `This ${art} of ${1850 + Math.floor(next() * 120)} is the best known work of ${other}. ${any(filler)}`,
    });
    questions.push(
      { question: `Who was born earlier, ${one} or ${other}?`, gold: [one, other] },
      { question: `In which town was ${one}, founder of the ${company}, born?`, gold: [company, one] },
      { question: `Where was ${other} born, whose best known work is ${work.replace(/ \(.*/, '')}?`, gold: [work, other] },
    );
  }
  return { paragraphs, questions };
}
