import type { AnswerWords } from '../answer-words.js';

export const en: AnswerWords = {
  sources: 'Sources:',
  unsupported: 'Not found in the cited source:',
  noSuchSource: 'there is no such source',
  notCovered: 'Not covered:',
  undone: 'Not confirmed as done:',
  notMade: 'Not done:',
  nothingFound: 'nothing was found',
  researchFailed: 'the research failed',
  found: 'What was found so far:',
  stillOpen: 'Still open:',
  whyStopped: 'Why it stopped:',
  unconfirmed: 'No step has confirmed this.',
  notReviewed: 'This answer touches a topic where it should have been reviewed; it was not reviewed.',
  verdictUnread: 'This answer was given to a review whose verdict could not be read.',
  unsourced: {
    no_calls_left: 'Nothing was looked up and no tool was called, because the budget of this run leaves no call for that.',
    no_plan: 'Nothing was looked up and no tool was called, because no plan could be made.',
    nothing_asked: 'Nothing was looked up and no tool was called.',
    all_failed: 'What was looked up or called for this answer failed.',
    nothing_found: 'Nothing was found about this in what was looked up.',
  },
  ownKnowledge: ' This answer rests on what the model itself knows.',
};
