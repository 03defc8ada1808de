import type { AnswerWords } from '../answer-words.js';

export const pl: AnswerWords = {
  sources: 'Źródła:',
  unsupported: 'Nie ma tego w podanym źródle:',
  noSuchSource: 'takiego źródła nie ma',
  notCovered: 'Bez odpowiedzi:',
  undone: 'Niepotwierdzone wykonanie:',
  notMade: 'Niewykonane:',
  nothingFound: 'niczego nie znaleziono',
  researchFailed: 'wyszukiwanie nie powiodło się',
  found: 'Dotychczas znaleziono:',
  stillOpen: 'Nadal otwarte:',
  whyStopped: 'Powód zatrzymania:',
  unconfirmed: 'Żaden krok tego nie potwierdził.',
  notReviewed: 'Ta odpowiedź dotyczy tematu, przy którym powinna zostać sprawdzona; nie została sprawdzona.',
  verdictUnread: 'Ta odpowiedź została przekazana do sprawdzenia, ale wyniku nie udało się odczytać.',
  unsourced: {
    no_calls_left: 'Niczego nie wyszukano i nie wywołano żadnego narzędzia, ponieważ budżet nie zostawiał na to żadnego wywołania.',
    no_plan: 'Niczego nie wyszukano i nie wywołano żadnego narzędzia, ponieważ nie udało się ułożyć planu.',
    nothing_asked: 'Niczego nie wyszukano i nie wywołano żadnego narzędzia.',
    all_failed: 'Wyszukiwania lub wywołania wykonane dla tej odpowiedzi nie powiodły się.',
    nothing_found: 'W sprawdzonych źródłach nie znaleziono nic na ten temat.',
  },
  ownKnowledge: ' Ta odpowiedź opiera się na tym, co wie sam model.',
};
