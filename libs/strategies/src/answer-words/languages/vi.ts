import type { AnswerWords } from '../answer-words.js';

export const vi: AnswerWords = {
  sources: 'Nguồn:',
  unsupported: 'Không có trong nguồn được dẫn:',
  noSuchSource: 'không có nguồn này',
  notCovered: 'Chưa được trả lời:',
  undone: 'Chưa được xác nhận là đã thực hiện:',
  notMade: 'Chưa được thực hiện:',
  nothingFound: 'không tìm thấy gì',
  researchFailed: 'việc tìm kiếm đã thất bại',
  found: 'Những gì đã tìm được:',
  stillOpen: 'Còn bỏ ngỏ:',
  whyStopped: 'Lý do dừng:',
  unconfirmed: 'Chưa bước nào xác nhận điều này.',
  notReviewed: 'Câu trả lời này chạm đến chủ đề lẽ ra phải được kiểm tra; nó chưa được kiểm tra.',
  verdictUnread: 'Câu trả lời này đã được đưa đi kiểm tra, nhưng không đọc được kết luận.',
  unsourced: {
    no_calls_left: 'Không tra cứu gì và không gọi công cụ nào, vì ngân sách không còn lượt gọi cho việc đó.',
    no_plan: 'Không tra cứu gì và không gọi công cụ nào, vì không lập được kế hoạch.',
    nothing_asked: 'Không tra cứu gì và không gọi công cụ nào.',
    all_failed: 'Những gì được tra cứu hoặc gọi cho câu trả lời này đều thất bại.',
    nothing_found: 'Không tìm thấy gì về điều này trong những gì đã tra cứu.',
  },
  ownKnowledge: ' Câu trả lời này dựa trên những gì chính mô hình biết.',
};
