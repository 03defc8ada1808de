import type { FailureSpec } from './failure-spec.js';

/** Rows about what people add and change while the system runs: ratings, collections, prompts, skills. */
export const knowledgeFailures = {
  FEEDBACK_GIVEN: {
    status: 409,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'This answer was rated already, with another rating or correction. The first one stands.',
  },
  ANSWER_NOT_THERE: {
    status: 409,
    type: 'invalid_request_error',
    retriable: true,
    errorType: 'caller_invalid',
    message: 'The run has not ended: there is no answer to rate yet. Send the rating once it has.',
  },
  ATTACHMENT_UNSUPPORTED: {
    status: 415,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message:
      'A template does not read this kind of content. Send text, images (PNG, JPEG, WebP, GIF) and files (text, Markdown, HTML, CSV, JSON, PDF), or ask a model (`model@provider`) that takes it.',
  },
  ATTACHMENT_INVALID: {
    status: 400,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'This image or file cannot be read. Correct the named part and send it again.',
  },
  ATTACHMENTS_TOO_LARGE: {
    status: 413,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message:
      'The images and files are more than this gateway accepts. Send smaller or fewer ones, or raise `gateway.max_attachments` and `gateway.max_attachment_bytes`.',
  },
  ATTACHMENT_MISSING: {
    status: 500,
    type: 'server_error',
    retriable: false,
    errorType: 'own_unavailable',
    message: 'An image or file of the question is not in the store any more. Send the question again with it.',
  },
  VISION_MISSING: {
    status: 400,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message:
      'No expert of this template can look at images. Add `vision` to the `experts` of the template, with a model that can see, or ask such a model itself (`model@provider`).',
  },
  COLLECTION_EXISTS: {
    status: 409,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'A collection of this name exists with another description. Choose another name, or delete it first.',
  },
  COLLECTION_FULL: {
    status: 409,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'No more fits in. Delete what is not needed any more, then send it again.',
  },
  UPLOAD_QUOTA_REACHED: {
    status: 413,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'policy_quota',
    message:
      'This tenant has uploaded as much as it may within 30 days. Upload later, send less, or raise `gateway.max_tenant_upload_bytes`.',
  },
  DOCUMENT_NOT_FOUND: {
    status: 404,
    type: 'not_found_error',
    retriable: false,
    errorType: 'caller_unknown',
    message: 'The collection has no document of this id. GET its documents to list them.',
  },
  PROMPT_NOT_FOUND: {
    status: 404,
    type: 'not_found_error',
    retriable: false,
    errorType: 'caller_unknown',
    message: 'No prompt has this name. GET /v1/admin/prompts lists them.',
  },
  PROMPT_INVALID: {
    status: 400,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'The text cannot take the place of this prompt.',
  },
  SKILL_NOT_FOUND: {
    status: 404,
    type: 'not_found_error',
    retriable: false,
    errorType: 'caller_unknown',
    message: 'No skill has this name. GET /v1/admin/skills lists them.',
  },
  SKILL_INVALID: {
    status: 400,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'This is no skill that can be used.',
  },
  SETTING_CHANGED: {
    status: 409,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'Somebody changed it meanwhile. Read it again, then repeat the change.',
  },
  SETTING_VERSION_NOT_FOUND: {
    status: 404,
    type: 'not_found_error',
    retriable: false,
    errorType: 'caller_unknown',
    message: 'This version is not kept. GET the setting to list the versions that are.',
  },
  INSIGHT_NOT_FOUND: {
    status: 404,
    type: 'not_found_error',
    retriable: false,
    errorType: 'caller_unknown',
    message: 'No insight of the knowledge graph has this id. GET /v1/knowledge/insights?run=<id> gives what a run taught.',
  },
  CONTRADICTION_NOT_FOUND: {
    status: 404,
    type: 'not_found_error',
    retriable: false,
    errorType: 'caller_unknown',
    message: 'No contradiction of the knowledge graph has this id. GET /v1/admin/knowledge/quarantine lists them.',
  },
} as const satisfies Record<string, FailureSpec>;
