import type { AnswerWords } from '../answer-words.js';

export const tr: AnswerWords = {
  sources: 'Kaynaklar:',
  unsupported: 'Belirtilen kaynakta bulunamadı:',
  noSuchSource: 'böyle bir kaynak yok',
  notCovered: 'Yanıtlanmayanlar:',
  undone: 'Yapıldığı doğrulanmayanlar:',
  notMade: 'Yapılmayanlar:',
  nothingFound: 'hiçbir şey bulunamadı',
  researchFailed: 'araştırma başarısız oldu',
  found: 'Şimdiye kadar bulunanlar:',
  stillOpen: 'Hâlâ açık:',
  whyStopped: 'Neden durdu:',
  unconfirmed: 'Hiçbir adım bunu doğrulamadı.',
  notReviewed: 'Bu yanıt, gözden geçirilmesi gereken bir konuya değiniyor; gözden geçirilmedi.',
  verdictUnread: 'Bu yanıt gözden geçirmeye verildi, ancak sonucu okunamadı.',
  unsourced: {
    no_calls_left: 'Hiçbir şey araştırılmadı ve hiçbir araç çağrılmadı, çünkü bütçe bunun için çağrı bırakmadı.',
    no_plan: 'Hiçbir şey araştırılmadı ve hiçbir araç çağrılmadı, çünkü bir plan yapılamadı.',
    nothing_asked: 'Hiçbir şey araştırılmadı ve hiçbir araç çağrılmadı.',
    all_failed: 'Bu yanıt için yapılan aramalar veya çağrılar başarısız oldu.',
    nothing_found: 'Bakılan kaynaklarda bununla ilgili bir şey bulunamadı.',
  },
  ownKnowledge: ' Bu yanıt, modelin kendi bilgisine dayanıyor.',
};
