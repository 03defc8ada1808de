import { NameMaker, randomFrom } from './random-words.js';

export interface Document {
  readonly title: string;
  readonly text: string;
}

/** A question that needs two documents, the second of which can only be found through the first. */
export interface TwoHopCase {
  readonly pattern: string;
  readonly question: string;
  readonly answer: string;
  /** The name that is in the first document and not in the question. */
  readonly bridge: string;
  readonly first: Document;
  readonly second: Document;
  readonly distractors: readonly Document[];
}

type Pattern = (make: NameMaker) => Omit<TwoHopCase, 'pattern'>;

const document = (title: string, ...sentences: string[]): Document => ({ title, text: sentences.join(' ') });

const founderBirthplace: Pattern = (make) => {
  const [firm, founder, city] = [`${make.word()} ${make.pick(['Institute', 'Foundry', 'Society', 'Mills'])}`, make.person(), make.place()];
  const [otherFirm, otherFounder, otherCity] = [`${make.word()} Institute`, make.person(), make.place()];
  const surname = founder.split(' ')[1]!;
  return {
    question: make.pick([
      `In which city was the founder of the ${firm} born?`,
      `Where was the founder of the ${firm} born?`,
      `Where was the woman who founded the ${firm} born?`,
      `In which town was the ${firm}'s founder born?`,
    ]),
    answer: city,
    bridge: founder,
    first: document(
      firm,
      make.pick([
        `The ${firm} was founded in ${make.year()} by ${founder}. It stands in ${make.place()}.`,
        `${founder} founded the ${firm} in ${make.place()} in ${make.year()}. It employs forty people.`,
        `The ${firm} makes clocks. It was established by ${founder} in ${make.year()}.`,
        `The founder of the ${firm} was ${founder}. Its workshops lie near ${make.place()}.`,
      ]),
    ),
    second: document(
      founder,
      make.pick([
        `${founder} was born in ${city} in ${make.year()}. She later moved to ${make.place()}.`,
        `${founder} was an engineer. She was born in ${make.year()} in ${city} and died in ${make.place()}.`,
        `${founder}, a cousin of ${make.person()}, was born in ${city}.`,
        `The birthplace of ${founder} is ${city}. She studied in ${make.place()}.`,
      ]),
    ),
    distractors: [
      document(otherFirm, `The ${otherFirm} was founded in ${make.year()} by ${otherFounder}.`),
      document(otherFounder, `${otherFounder} was born in ${otherCity} in ${make.year()}.`),
      document(`${make.word()} ${surname}`, `${make.word()} ${surname} was born in ${make.place()} and painted ships.`),
      document(`${make.word()} Guild`, `The guild of ${make.place()} was led by ${make.person()} until ${make.year()}.`),
    ],
  };
};

const authorBirthYear: Pattern = (make) => {
  const [book, author, year] = [`The ${make.word()} ${make.pick(['Orchard', 'Lantern', 'Winter'])}`, make.person(), make.year()];
  const [otherBook, otherAuthor] = [`The ${make.word()} Lantern`, make.person()];
  return {
    question: make.pick([
      `In what year was the author of ${book} born?`,
      `When was the author of "${book}" born?`,
      `In which year was the writer who wrote ${book} born?`,
    ]),
    answer: year,
    bridge: author,
    first: document(
      book,
      make.pick([
        `${book} is a novel by ${author}. It was published in ${make.year()}.`,
        `${book} was written by ${author} in ${make.year()}.`,
        `${author} wrote ${book} in a single winter. It sold well.`,
      ]),
    ),
    second: document(
      author,
      make.pick([
        `${author} was born in ${make.place()} in ${year} and died in ${make.year()}.`,
        `${author} kept bees. She was born in ${year}.`,
        `Born in ${year}, ${author} grew up in ${make.place()}.`,
      ]),
    ),
    distractors: [
      document(otherBook, `${otherBook} is a novel by ${otherAuthor}.`),
      document(otherAuthor, `${otherAuthor} was born in ${make.year()}.`),
      document(make.place(), `A library was opened here in ${make.year()}.`),
    ],
  };
};

const capitalRiver: Pattern = (make) => {
  const [country, capital, river] = [make.word(), make.word(), make.word()];
  const [otherCountry, otherCapital, otherRiver] = [make.word(), make.word(), make.word()];
  return {
    question: make.pick([`Which river flows through the capital of ${country}?`, `What river runs through the capital of ${country}?`]),
    answer: river,
    bridge: capital,
    first: document(
      country,
      make.pick([
        `The capital of ${country} is ${capital}. Its coast is long.`,
        `${country} is a small country. ${capital} is the capital of ${country}.`,
      ]),
    ),
    second: document(
      capital,
      make.pick([
        `The river ${river} flows through ${capital}. A bridge was built there in ${make.year()}.`,
        `${capital} lies on the river ${river}. It has three markets.`,
        `${capital} is known for its bells. The ${river} River runs through ${capital}.`,
      ]),
    ),
    distractors: [
      document(otherCountry, `The capital of ${otherCountry} is ${otherCapital}.`),
      document(otherCapital, `The river ${otherRiver} flows through ${otherCapital}.`),
      document(make.word(), `The lake is deep and cold.`),
    ],
  };
};

const architectUniversity: Pattern = (make) => {
  const [tower, architect, school] = [`${make.word()} Tower`, make.person(), `University of ${make.word()}`];
  const [otherTower, otherArchitect] = [`${make.word()} Tower`, make.person()];
  return {
    question: make.pick([
      `Where did the architect of the ${tower} study?`,
      `At which university did the architect who designed the ${tower} study?`,
    ]),
    answer: school,
    bridge: architect,
    first: document(
      tower,
      make.pick([
        `The ${tower} was designed by ${architect} and opened in ${make.year()}.`,
        `${architect} was the architect of the ${tower}. It is forty metres high.`,
        `The ${tower} overlooks ${make.place()}. Its architect was ${architect}.`,
      ]),
    ),
    second: document(
      architect,
      make.pick([
        `${architect} studied at the ${school}.`,
        `${architect} grew up by the sea. He was educated at the ${school} until ${make.year()}.`,
      ]),
    ),
    distractors: [
      document(otherTower, `The ${otherTower} was designed by ${otherArchitect}.`),
      document(otherArchitect, `${otherArchitect} studied at the University of ${make.word()}.`),
    ],
  };
};

const inventorSpouse: Pattern = (make) => {
  const [machine, inventor, spouse] = [`${make.word()} ${make.pick(['Engine', 'Compass', 'Loom'])}`, make.person(), make.person()];
  const [otherMachine, otherInventor] = [`${make.word()} Engine`, make.person()];
  return {
    question: make.pick([`Who was the wife of the inventor of the ${machine}?`, `Who was married to the inventor of the ${machine}?`]),
    answer: spouse,
    bridge: inventor,
    first: document(
      machine,
      make.pick([
        `The ${machine} was invented by ${inventor} in ${make.year()}.`,
        `${inventor} invented the ${machine} in a barn near ${make.place()}.`,
      ]),
    ),
    second: document(
      inventor,
      make.pick([
        `${inventor} married ${spouse} in ${make.year()}.`,
        `${inventor} lived quietly. In ${make.year()} he married ${spouse} in ${make.place()}.`,
        `The wife of ${inventor} was ${spouse}.`,
      ]),
    ),
    distractors: [
      document(otherMachine, `The ${otherMachine} was invented by ${otherInventor}.`),
      document(otherInventor, `${otherInventor} married ${make.person()} in ${make.year()}.`),
    ],
  };
};

const captainDeath: Pattern = (make) => {
  const [ship, captain, year] = [`${make.word()} ${make.pick(['Star', 'Gull'])}`, make.person(), make.year()];
  const otherCaptain = make.person();
  return {
    question: make.pick([`When did the captain of the ${ship} die?`, `In what year did the captain of the ship ${ship} die?`]),
    answer: year,
    bridge: captain,
    first: document(
      ship,
      make.pick([
        `The ${ship} was a ship with two masts. Her captain on every voyage of the ${ship} was ${captain}.`,
        `The ${ship} was commanded by ${captain} for nine years.`,
      ]),
    ),
    second: document(
      captain,
      make.pick([
        `${captain} was born in ${make.year()} and died in ${year}.`,
        `${captain} never married. Her death came in ${year}. She died at home in ${year}.`,
      ]),
    ),
    distractors: [
      document(`${make.word()} Star`, `This ship was commanded by ${otherCaptain}.`),
      document(otherCaptain, `${otherCaptain} died in ${make.year()}.`),
    ],
  };
};

export const patterns = { founderBirthplace, authorBirthYear, capitalRiver, architectUniversity, inventorSpouse, captainDeath };

export function generatedCase(pattern: keyof typeof patterns, seed: number): TwoHopCase {
  return { pattern, ...patterns[pattern](new NameMaker(randomFrom(seed * 7_919 + Object.keys(patterns).indexOf(pattern)))) };
}
