import type { AnswerWords } from '../answer-words.js';

export const it: AnswerWords = {
  sources: 'Fonti:',
  unsupported: 'Non trovato nella fonte citata:',
  noSuchSource: 'questa fonte non esiste',
  notCovered: 'Senza risposta:',
  undone: 'Esecuzione non confermata:',
  notMade: 'Non eseguito:',
  nothingFound: 'non è stato trovato nulla',
  researchFailed: 'la ricerca non è riuscita',
  found: 'Trovato finora:',
  stillOpen: 'Ancora da chiarire:',
  whyStopped: 'Perché si è fermato:',
  unconfirmed: 'Nessun passaggio lo ha confermato.',
  notReviewed: 'Questa risposta tocca un argomento per cui andava controllata; non è stata controllata.',
  verdictUnread: 'Questa risposta è stata sottoposta a un controllo il cui esito non è leggibile.',
  unsourced: {
    no_calls_left: 'Non è stato consultato nulla né usato alcuno strumento, perché il budget non lasciava chiamate per farlo.',
    no_plan: 'Non è stato consultato nulla né usato alcuno strumento, perché non è stato possibile fare un piano.',
    nothing_asked: 'Non è stato consultato nulla né usato alcuno strumento.',
    all_failed: 'Le ricerche o le chiamate fatte per questa risposta non sono riuscite.',
    nothing_found: 'In ciò che è stato consultato non si è trovato nulla al riguardo.',
  },
  ownKnowledge: ' Questa risposta si basa su ciò che il modello stesso sa.',
};
