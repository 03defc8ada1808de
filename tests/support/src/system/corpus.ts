import { randomInt } from 'node:crypto';

const syllables = [
  'bal',
  'dor',
  'fen',
  'gri',
  'hol',
  'jas',
  'kem',
  'lor',
  'mur',
  'nev',
  'os',
  'pel',
  'quen',
  'rod',
  'sar',
  'tul',
  'ven',
  'wex',
];

/** A name that only the generated documents contain. */
export function inventedName(): string {
  const word = [0, 1, 2].map(() => syllables[randomInt(syllables.length)]).join('');
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** A question whose second search depends on what the first one finds, with its documents. */
export interface TwoHops {
  readonly question: string;
  /** Searched first. */
  readonly thing: string;
  /** Found in the first document, searched second. */
  readonly person: string;
  /** The answer, found in the second document only. */
  readonly place: string;
  readonly documents: Readonly<Record<string, string>>;
}

/** Generated anew for every test run, so nothing can know it in advance. */
export function twoHops(): TwoHops {
  const [observatory, first, last, place] = [inventedName(), inventedName(), inventedName(), inventedName()];
  const thing = `${observatory} Observatory`;
  const person = `${first} ${last}`;
  return {
    question: `In which town was the founder of the ${thing} born?`,
    thing,
    person,
    place,
    documents: {
      'observatory.md': `# ${thing}\n\nThe ${thing} is a small station on a hill. The ${thing} was founded by ${person} in 1871.\n`,
      'founder.md': `# ${person}\n\n${person} was an astronomer. ${person} was born in the town of ${place}.\n`,
      'harbours.md': '# Harbours\n\nA harbour is a sheltered stretch of water where ships can lie safely.\n',
    },
  };
}
