import type { AnswerWords } from '../answer-words.js';

export const de: AnswerWords = {
  sources: 'Quellen:',
  unsupported: 'In der genannten Quelle nicht gefunden:',
  noSuchSource: 'diese Quelle gibt es nicht',
  notCovered: 'Nicht beantwortet:',
  undone: 'Nicht als erledigt bestätigt:',
  notMade: 'Nicht ausgeführt:',
  nothingFound: 'dazu wurde nichts gefunden',
  researchFailed: 'die Suche ist fehlgeschlagen',
  found: 'Bisher gefunden:',
  stillOpen: 'Noch offen:',
  whyStopped: 'Warum hier Schluss ist:',
  unconfirmed: 'Kein Schritt hat das bestätigt.',
  notReviewed: 'Diese Antwort berührt ein Thema, bei dem sie hätte geprüft werden sollen; sie wurde nicht geprüft.',
  verdictUnread: 'Diese Antwort wurde zur Prüfung gegeben, aber deren Urteil war nicht lesbar.',
  unsourced: {
    no_calls_left: 'Es wurde nichts nachgeschlagen und kein Werkzeug aufgerufen, weil das Budget dafür keinen Aufruf übrig lässt.',
    no_plan: 'Es wurde nichts nachgeschlagen und kein Werkzeug aufgerufen, weil kein Plan zustande kam.',
    nothing_asked: 'Es wurde nichts nachgeschlagen und kein Werkzeug aufgerufen.',
    all_failed: 'Was für diese Antwort nachgeschlagen oder aufgerufen wurde, ist fehlgeschlagen.',
    nothing_found: 'In dem, was nachgeschlagen wurde, fand sich dazu nichts.',
  },
  ownKnowledge: ' Diese Antwort beruht auf dem, was das Modell selbst weiß.',
};
