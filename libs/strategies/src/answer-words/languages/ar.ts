import type { AnswerWords } from '../answer-words.js';

export const ar: AnswerWords = {
  sources: 'المصادر:',
  unsupported: 'غير موجود في المصدر المذكور:',
  noSuchSource: 'لا يوجد مصدر كهذا',
  notCovered: 'لم تتم الإجابة عنه:',
  undone: 'لم يتأكد تنفيذه:',
  notMade: 'لم يُنفَّذ:',
  nothingFound: 'لم يُعثر على شيء',
  researchFailed: 'فشل البحث',
  found: 'ما عُثر عليه حتى الآن:',
  stillOpen: 'ما زال مفتوحًا:',
  whyStopped: 'سبب التوقف:',
  unconfirmed: 'لم تؤكد أي خطوة ذلك.',
  notReviewed: 'تتناول هذه الإجابة موضوعًا كان ينبغي مراجعتها فيه، ولم تُراجَع.',
  verdictUnread: 'أُرسلت هذه الإجابة للمراجعة، لكن تعذرت قراءة نتيجتها.',
  unsourced: {
    no_calls_left: 'لم يُبحث عن شيء ولم تُستدعَ أي أداة، لأن الميزانية لم تترك أي استدعاء لذلك.',
    no_plan: 'لم يُبحث عن شيء ولم تُستدعَ أي أداة، لأنه تعذر وضع خطة.',
    nothing_asked: 'لم يُبحث عن شيء ولم تُستدعَ أي أداة.',
    all_failed: 'فشلت عمليات البحث أو الاستدعاء التي أُجريت لهذه الإجابة.',
    nothing_found: 'لم يُعثر على شيء عن هذا فيما جرى البحث فيه.',
  },
  ownKnowledge: ' تستند هذه الإجابة إلى ما يعرفه النموذج نفسه.',
};
