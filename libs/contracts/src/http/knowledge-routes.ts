import { CollectionList, CollectionRequest, CollectionView, Deleted, DocumentList, DocumentRequest, DocumentView } from './collections.js';
import { FeedbackAccepted, FeedbackRequest } from './feedback.js';
import { InsightList, InsightView } from './insights.js';
import type { Route } from './route.js';
import {
  Contradiction,
  ContradictionDecision,
  ContradictionList,
  PromptChange,
  PromptList,
  PromptView,
  RollbackRequest,
  SkillApproval,
  SkillChange,
  SkillList,
  SkillView,
  TemplateChange,
  TemplateView,
} from './settings.js';

const of = <S>(name: string, schema: S) => ({ name, schema });
const prompt = of('PromptView', PromptView);
const skill = of('SkillView', SkillView);
const document = of('DocumentView', DocumentView);
const deleted = of('Deleted', Deleted);

/** Ratings, collections of documents, prompts, skills and the quarantine of the knowledge graph. */
export const knowledgeRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/feedback',
    summary: 'Rates an answer, once; only its caller may. Scores, caches and the trust in what was learned from it follow.',
    request: of('FeedbackRequest', FeedbackRequest),
    status: 202,
    response: of('FeedbackAccepted', FeedbackAccepted),
  },
  {
    method: 'POST',
    path: '/v1/collections',
    summary: 'Creates a collection of documents that runs of this tenant search. Creating the same one again changes nothing.',
    request: of('CollectionRequest', CollectionRequest),
    status: 201,
    response: of('CollectionView', CollectionView),
  },
  {
    method: 'GET',
    path: '/v1/collections',
    summary: 'Collections of the tenant.',
    status: 200,
    response: of('CollectionList', CollectionList),
  },
  {
    method: 'DELETE',
    path: '/v1/collections/{name}',
    summary: 'Removes a collection with everything in it.',
    status: 200,
    response: deleted,
  },
  {
    method: 'POST',
    path: '/v1/collections/{name}/documents',
    summary: 'Adds a document: as a form, as JSON, or as its bytes. It is read and embedded afterwards.',
    request: of('DocumentRequest', DocumentRequest),
    uploads: {
      'multipart/form-data': 'a form with the field `file`, and optionally `metadata` as a JSON object',
      '*/*': 'the document itself; its name is in `x-document-name`',
    },
    status: 202,
    response: document,
    headers: [
      { name: 'x-document-name', doc: 'name of the document whose bytes are the body, percent-encoded if it is not ASCII' },
      { name: 'x-document-metadata', doc: 'JSON object of texts' },
    ],
  },
  {
    method: 'GET',
    path: '/v1/collections/{name}/documents',
    summary: 'Documents of a collection with their progress.',
    status: 200,
    response: of('DocumentList', DocumentList),
    query: [
      { name: 'limit', doc: 'documents per page, 1 to 200; 50 by default', integer: true },
      { name: 'after', doc: '`nextAfter` of the previous page', integer: false },
    ],
  },
  {
    method: 'GET',
    path: '/v1/collections/{name}/documents/{id}',
    summary: 'One of them.',
    status: 200,
    response: document,
  },
  {
    method: 'DELETE',
    path: '/v1/collections/{name}/documents/{id}',
    summary: 'Removes a document and everything derived from it.',
    status: 200,
    response: deleted,
  },
  {
    method: 'GET',
    path: '/v1/knowledge/insights',
    summary: 'What the knowledge graph learned from a run. It learns after the answer: the list is empty until then.',
    status: 200,
    response: of('InsightList', InsightList),
    query: [{ name: 'run', doc: 'id of the run', integer: false }],
  },
  {
    method: 'GET',
    path: '/v1/knowledge/insights/{id}',
    summary: 'An insight that answers name among their sources: the runs, answers and sources it was learned from, and its trust.',
    status: 200,
    response: of('InsightView', InsightView),
  },
  {
    method: 'GET',
    path: '/v1/admin/templates/{id}',
    summary: 'The options of a template, and those changed while the system runs.',
    status: 200,
    response: of('TemplateView', TemplateView),
  },
  {
    method: 'PUT',
    path: '/v1/admin/templates/{id}',
    summary: 'Changes options of a template; runs accepted two seconds later use them, and a run keeps those it began with.',
    request: of('TemplateChange', TemplateChange),
    status: 200,
    response: of('TemplateView', TemplateView),
  },
  {
    method: 'GET',
    path: '/v1/admin/prompts',
    summary: 'Prompts and whether they were changed.',
    status: 200,
    response: of('PromptList', PromptList),
  },
  {
    method: 'GET',
    path: '/v1/admin/prompts/{name}',
    summary: 'A prompt: the shipped text, its replacement, and its versions.',
    status: 200,
    response: prompt,
  },
  {
    method: 'PUT',
    path: '/v1/admin/prompts/{name}',
    summary: 'Replaces the text of a prompt; runs that start two seconds later use it.',
    request: of('PromptChange', PromptChange),
    status: 200,
    response: prompt,
  },
  {
    method: 'POST',
    path: '/v1/admin/prompts/{name}/rollback',
    summary: 'Goes back to an earlier text, or to the shipped one.',
    request: of('RollbackRequest', RollbackRequest),
    status: 200,
    response: prompt,
  },
  {
    method: 'GET',
    path: '/v1/admin/skills',
    summary: 'Skills, approved or not.',
    status: 200,
    response: of('SkillList', SkillList),
  },
  { method: 'GET', path: '/v1/admin/skills/{name}', summary: 'A skill with its text.', status: 200, response: skill },
  {
    method: 'PUT',
    path: '/v1/admin/skills/{name}',
    summary: 'Adds or changes a skill. It does not run until exactly this text is approved.',
    request: of('SkillChange', SkillChange),
    status: 200,
    response: skill,
  },
  {
    method: 'POST',
    path: '/v1/admin/skills/{name}/approval',
    summary: 'Approves the version that was read, or withdraws the approval.',
    request: of('SkillApproval', SkillApproval),
    status: 200,
    response: skill,
  },
  {
    method: 'DELETE',
    path: '/v1/admin/skills/{name}',
    summary: 'Removes a skill that was added over HTTP.',
    status: 200,
    response: deleted,
  },
  {
    method: 'GET',
    path: '/v1/admin/knowledge/quarantine',
    summary: 'What contradicts the knowledge graph and waits for a decision.',
    status: 200,
    response: of('ContradictionList', ContradictionList),
    query: [
      { name: 'state', doc: 'open, accepted or rejected; open by default', integer: false },
      { name: 'limit', doc: 'maximum number, 1 to 200; 50 by default', integer: true },
    ],
  },
  {
    method: 'POST',
    path: '/v1/admin/knowledge/quarantine/{id}',
    summary: 'Accepts or rejects one of them. The first decision stands.',
    request: of('ContradictionDecision', ContradictionDecision),
    status: 200,
    response: of('Contradiction', Contradiction),
  },
];
