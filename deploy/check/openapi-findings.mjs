import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

const refusal = 'positive_data_acceptance';
const acceptance = 'negative_data_rejection';

/**
 * Findings of Schemathesis that are as they should be. `check`: its name; `of`: operations; `says`: what the answer contains, for other findings also the finding and the request;
 * `at`: what the address of the request contains; `why`: the reason.
 */
export const accepted = [
  { check: acceptance, at: /[?&]\w+=(&|$)/, why: 'An empty parameter counts as absent, as the document says.' },
  { check: acceptance, says: /"x-(?:conclave|document)-[\w-]+":\[""\]/i, why: 'An empty header counts as absent too.' },
  {
    check: acceptance,
    says: /in header - object with unexpected properties|query: violates `additionalProperties`/,
    why: 'Unknown headers and parameters are ignored: proxies add some.',
  },
  { check: acceptance, says: /last-event-id/, why: 'Its client leaves a header with null out.' },
  {
    check: acceptance,
    of: /^POST \/v1\/(chat\/completions|completions|responses|messages)$/,
    says: /conclave-demo@demo/,
    why: 'A request to a model (`model@provider`) passes unchanged to its server, which decides.',
  },
  { check: acceptance, of: /\/documents$/, says: /in body/, why: 'A body of any media type is a document.' },
  {
    check: refusal,
    says: /No message has the role|has no text|must contain at least one message|one answer|none can be required|read this kind of content|response_format|must be a JSON Schema|webhook/,
    why: 'Rules about the conversation and about what a template can do.',
  },
  { check: refusal, says: /left no model call/, why: 'Limits that the request set too low.' },
  {
    check: refusal,
    of: /^POST \/v1\/runs$/,
    says: /needs a template|Send either `input` or `messages`/,
    why: 'A run has a template and one question.',
  },
  { check: refusal, of: /embeddings$/, says: /token id|does not shorten/, why: 'What this embedding model can do.' },
  {
    check: refusal,
    of: /\/documents$/,
    says: /x-document-|form|not valid JSON|DOCUMENT/,
    why: 'The headers and the form of a document depend on how it is sent.',
  },
  { check: refusal, of: /admin\/skills/, says: /SKILL_INVALID/, why: 'A skill is Markdown with front matter.' },
  { check: refusal, of: /admin\/prompts/, says: /PROMPT_INVALID/, why: 'A prompt needs its placeholders.' },
  { check: refusal, of: /admin\/templates/, says: /REQUEST_INVALID/, why: 'Options and models depend on the template.' },
  { check: refusal, of: /providers\/test$/, says: /base_url/, why: 'An address must be one.' },
  { check: refusal, of: /\/v1\/usage$/, says: /at most 400 days/, why: 'A period has a length.' },
  { check: refusal, of: /input_items$/, says: /id of an item/, why: 'An item that exists.' },
  { check: refusal, says: /RUN_ERASED/, why: 'A run that the check deleted.' },
  { check: 'use_after_free', of: /admin\/keys/, says: /"state":"revoked"/, why: 'A revoked key is shown for 90 more days.' },
  {
    check: 'not_a_server_error',
    says: /RUN_FAILED/,
    why: 'A time limit below a millisecond, or one model call, ends the run without a result.',
  },
  { check: 'ignored_auth', of: /./, when: 'keyless', why: 'Without keys in conclave.yaml, only admin routes need one.' },
];

const textOf = (content) =>
  typeof content === 'string' ? content : content?.$base64 ? Buffer.from(content.$base64, 'base64').toString('utf8') : '';

/**
 * Reads a report of Schemathesis in NDJSON. `when`: 'keyed' or 'keyless'.
 * @returns Number of requests, of answers by class of status, of accepted findings, and the other findings as sentences.
 */
export async function readReport(file, when) {
  const found = { requests: 0, statuses: {}, accepted: 0, others: new Set() };
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const recorder = JSON.parse(line).ScenarioFinished?.recorder;
    if (!recorder) continue;
    for (const { response } of Object.values(recorder.interactions ?? {})) {
      found.requests += 1;
      const status = response ? `${Math.floor(response.status_code / 100)}xx` : 'none';
      found.statuses[status] = (found.statuses[status] ?? 0) + 1;
    }
    for (const [id, checks] of Object.entries(recorder.checks ?? {}))
      for (const { name, status, failure_info: info } of checks) {
        if (status !== 'failure') continue;
        const { operation, title, message } = info.failure;
        const { request, response } = recorder.interactions?.[id] ?? {};
        const answer = textOf(response?.content);
        // A refusal is only as it should be for what the answer says, whatever words were generated into the request.
        const said = name === refusal ? answer : [message, JSON.stringify(request?.headers), textOf(request?.body), answer].join('\n');
        const known = accepted.some(
          ({ check, of, says, at, when: only }) =>
            check === name &&
            (only ?? when) === when &&
            (of?.test(operation) ?? true) &&
            (says?.test(said) ?? true) &&
            (at?.test(request?.uri ?? '') ?? true),
        );
        if (known) found.accepted += 1;
        else
          found.others.add(
            `${name}, ${operation}: ${title}. ${message.replaceAll(/\s+/g, ' ').slice(0, 300)} ${request?.method} ${request?.uri} ${textOf(request?.body).slice(0, 300)} -> ${response?.status_code ?? 'no answer'} ${textOf(response?.content).slice(0, 300)}`,
          );
      }
  }
  return found;
}
