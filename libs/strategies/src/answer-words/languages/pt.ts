import type { AnswerWords } from '../answer-words.js';

export const pt: AnswerWords = {
  sources: 'Fontes:',
  unsupported: 'Não consta da fonte citada:',
  noSuchSource: 'essa fonte não existe',
  notCovered: 'Sem resposta:',
  undone: 'Execução não confirmada:',
  notMade: 'Não realizado:',
  nothingFound: 'nada foi encontrado',
  researchFailed: 'a pesquisa falhou',
  found: 'O que foi encontrado até agora:',
  stillOpen: 'Ainda em aberto:',
  whyStopped: 'Por que parou:',
  unconfirmed: 'Nenhum passo confirmou isto.',
  notReviewed: 'Esta resposta toca num tema em que deveria ter sido revista; não foi revista.',
  verdictUnread: 'Esta resposta foi submetida a uma revisão cujo veredicto não pôde ser lido.',
  unsourced: {
    no_calls_left: 'Nada foi consultado e nenhuma ferramenta foi chamada, porque o orçamento não deixava nenhuma chamada para isso.',
    no_plan: 'Nada foi consultado e nenhuma ferramenta foi chamada, porque não foi possível fazer um plano.',
    nothing_asked: 'Nada foi consultado e nenhuma ferramenta foi chamada.',
    all_failed: 'As consultas ou chamadas feitas para esta resposta falharam.',
    nothing_found: 'Nada foi encontrado sobre isto no que foi consultado.',
  },
  ownKnowledge: ' Esta resposta baseia-se no que o próprio modelo sabe.',
};
