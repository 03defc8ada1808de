import type { AnswerWords } from '../answer-words.js';

export const ko: AnswerWords = {
  sources: '출처:',
  unsupported: '인용한 출처에서 찾을 수 없음:',
  noSuchSource: '그런 출처는 없습니다',
  notCovered: '답하지 못한 것:',
  undone: '실행이 확인되지 않은 것:',
  notMade: '실행되지 않은 것:',
  nothingFound: '아무것도 찾지 못했습니다',
  researchFailed: '조사에 실패했습니다',
  found: '지금까지 찾은 내용:',
  stillOpen: '아직 확인되지 않은 점:',
  whyStopped: '중단된 이유:',
  unconfirmed: '어느 단계에서도 확인되지 않았습니다.',
  notReviewed: '이 답변은 검토가 필요한 주제를 다루지만 검토되지 않았습니다.',
  verdictUnread: '이 답변은 검토에 맡겨졌지만 그 판정을 읽을 수 없었습니다.',
  unsourced: {
    no_calls_left: '예산에 남은 호출이 없어 아무것도 찾아보지 않았고 도구도 호출하지 않았습니다.',
    no_plan: '계획을 세울 수 없어 아무것도 찾아보지 않았고 도구도 호출하지 않았습니다.',
    nothing_asked: '아무것도 찾아보지 않았고 도구도 호출하지 않았습니다.',
    all_failed: '이 답변을 위한 조회나 호출이 실패했습니다.',
    nothing_found: '찾아본 자료에서 이에 대한 내용을 찾지 못했습니다.',
  },
  ownKnowledge: ' 이 답변은 모델 자체의 지식에 근거합니다.',
};
