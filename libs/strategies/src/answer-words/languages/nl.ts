import type { AnswerWords } from '../answer-words.js';

export const nl: AnswerWords = {
  sources: 'Bronnen:',
  unsupported: 'Niet gevonden in de genoemde bron:',
  noSuchSource: 'deze bron bestaat niet',
  notCovered: 'Niet beantwoord:',
  undone: 'Niet bevestigd als uitgevoerd:',
  notMade: 'Niet uitgevoerd:',
  nothingFound: 'er is niets gevonden',
  researchFailed: 'het onderzoek is mislukt',
  found: 'Tot nu toe gevonden:',
  stillOpen: 'Nog open:',
  whyStopped: 'Waarom het stopte:',
  unconfirmed: 'Geen enkele stap heeft dit bevestigd.',
  notReviewed: 'Dit antwoord raakt een onderwerp waarbij het gecontroleerd had moeten worden; dat is niet gebeurd.',
  verdictUnread: 'Dit antwoord is ter controle voorgelegd, maar het oordeel was niet leesbaar.',
  unsourced: {
    no_calls_left: 'Er is niets opgezocht en geen hulpmiddel aangeroepen, omdat het budget daar geen aanroep voor overliet.',
    no_plan: 'Er is niets opgezocht en geen hulpmiddel aangeroepen, omdat er geen plan kon worden gemaakt.',
    nothing_asked: 'Er is niets opgezocht en geen hulpmiddel aangeroepen.',
    all_failed: 'Wat voor dit antwoord is opgezocht of aangeroepen, is mislukt.',
    nothing_found: 'In wat is opgezocht, is hierover niets gevonden.',
  },
  ownKnowledge: ' Dit antwoord berust op wat het model zelf weet.',
};
