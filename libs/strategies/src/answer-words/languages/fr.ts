import type { AnswerWords } from '../answer-words.js';

export const fr: AnswerWords = {
  sources: 'Sources :',
  unsupported: 'Introuvable dans la source citée :',
  noSuchSource: 'cette source n’existe pas',
  notCovered: 'Non traité :',
  undone: 'Exécution non confirmée :',
  notMade: 'Non effectué :',
  nothingFound: 'rien n’a été trouvé',
  researchFailed: 'la recherche a échoué',
  found: 'Ce qui a été trouvé jusqu’ici :',
  stillOpen: 'Reste à éclaircir :',
  whyStopped: 'Raison de l’arrêt :',
  unconfirmed: 'Aucune étape ne l’a confirmé.',
  notReviewed: 'Cette réponse touche un sujet pour lequel elle aurait dû être relue ; elle ne l’a pas été.',
  verdictUnread: 'Cette réponse a été soumise à une relecture dont le verdict est illisible.',
  unsourced: {
    no_calls_left: 'Rien n’a été recherché et aucun outil n’a été appelé, car le budget ne laissait aucun appel pour cela.',
    no_plan: 'Rien n’a été recherché et aucun outil n’a été appelé, car aucun plan n’a pu être établi.',
    nothing_asked: 'Rien n’a été recherché et aucun outil n’a été appelé.',
    all_failed: 'Les recherches ou les appels faits pour cette réponse ont échoué.',
    nothing_found: 'Rien n’a été trouvé à ce sujet dans ce qui a été consulté.',
  },
  ownKnowledge: ' Cette réponse repose sur les seules connaissances du modèle.',
};
