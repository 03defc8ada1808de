import type { AnswerWords } from '../answer-words.js';

export const ja: AnswerWords = {
  sources: '出典：',
  unsupported: '引用した出典に見当たらないもの：',
  noSuchSource: 'そのような出典はありません',
  notCovered: '回答できなかったもの：',
  undone: '実行を確認できなかったもの：',
  notMade: '実行されなかったもの：',
  nothingFound: '何も見つかりませんでした',
  researchFailed: '調査に失敗しました',
  found: 'これまでに分かったこと：',
  stillOpen: 'まだ不明な点：',
  whyStopped: '終了した理由：',
  unconfirmed: 'どの段階でも確認されていません。',
  notReviewed: 'この回答は確認が必要な話題に触れていますが、確認されていません。',
  verdictUnread: 'この回答は確認に回されましたが、その判定を読み取れませんでした。',
  unsourced: {
    no_calls_left: '予算に呼び出しが残っていないため、何も調べず、ツールも呼び出していません。',
    no_plan: '計画を立てられなかったため、何も調べず、ツールも呼び出していません。',
    nothing_asked: '何も調べず、ツールも呼び出していません。',
    all_failed: 'この回答のための調査や呼び出しは失敗しました。',
    nothing_found: '調べた範囲では、これについて何も見つかりませんでした。',
  },
  ownKnowledge: 'この回答はモデル自身の知識に基づいています。',
};
