import type { AnswerWords } from '../answer-words.js';

export const zh: AnswerWords = {
  sources: '来源：',
  unsupported: '引用的来源中未找到：',
  noSuchSource: '没有这个来源',
  notCovered: '未能回答：',
  undone: '未确认已完成：',
  notMade: '未执行：',
  nothingFound: '没有找到任何内容',
  researchFailed: '查找失败',
  found: '目前找到的内容：',
  stillOpen: '尚待确认：',
  whyStopped: '停止原因：',
  unconfirmed: '没有任何步骤证实这一点。',
  notReviewed: '本回答涉及需要审核的话题，但未经审核。',
  verdictUnread: '本回答已提交审核，但无法读取审核结论。',
  unsourced: {
    no_calls_left: '没有查找资料，也没有调用工具，因为预算没有为此留下调用次数。',
    no_plan: '没有查找资料，也没有调用工具，因为未能制定计划。',
    nothing_asked: '没有查找资料，也没有调用工具。',
    all_failed: '为本回答进行的查找或调用均告失败。',
    nothing_found: '在查找到的资料中没有找到相关内容。',
  },
  ownKnowledge: '本回答依据的是模型自身的知识。',
};
