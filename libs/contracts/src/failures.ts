/** Definition of a failure that a person or a caller can meet. */
export interface FailureSpec {
  /** HTTP status when it reaches a client before the response head. */
  readonly status: number;
  /** OpenAI error `type`. */
  readonly type:
    'invalid_request_error' | 'authentication_error' | 'not_found_error' | 'rate_limit_error' | 'server_error' | 'upstream_error';
  /** Whether the same request can succeed when tried again. */
  readonly retriable: boolean;
  /** Our own log, state or stream store is failing: consumption pauses, and no record is blamed. */
  readonly outage: boolean;
  /** The work was paid for before it failed, so an SDK's own retry would pay again. */
  readonly paid: boolean;
  /** Closed vocabulary for metrics: who has to act. */
  readonly errorType: string;
  /** Sentence that says what happened and what to do. */
  readonly message: string;
}

type Row = readonly [
  status: FailureSpec['status'],
  type: FailureSpec['type'],
  errorType: string,
  retriable: boolean,
  outage: boolean,
  paid: boolean,
  message: string,
];

const yes = true;
const no = false;

// prettier-ignore
const rows = {
  // Code                      Status, type, who has to act (see FailureSpec)            Retriable, outage, paid: what happened, and what to do.
  // About requests, models, runs and calls.
  REQUEST_INVALID:             [400, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The request is not valid. Correct the named field and send it again.'],
  REQUEST_NOT_JSON:            [400, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The body is not valid JSON. Send a JSON object with Content-Type: application/json.'],
  REQUEST_TOO_SLOW:            [408, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The body did not arrive in time. Send it faster, or raise `gateway.request_timeout_s`.'],
  REQUEST_TOO_LARGE:           [413, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The body is larger than this gateway accepts. Shorten the conversation or raise `gateway.max_body_bytes`.'],
  REQUEST_TOO_COMPLEX:         [400, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The body is nested too deeply or has too many parts: at most 64 levels, 10,000 names and 100,000 values are read. Leave out what is not needed.'],
  QUESTION_TOO_LONG:           [400, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The question is longer than this template can ask its models. Shorten it, or put long texts into a collection and ask about them.'],
  MEDIA_TYPE_UNSUPPORTED:      [415, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'This endpoint reads JSON. Send Content-Type: application/json.'],
  MODEL_NOT_FOUND:             [404, 'invalid_request_error',  'caller_unknown',          no,  no,  no,  'No template or model has this id. GET /v1/models lists the valid ones.'],
  RUN_NOT_FOUND:               [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'No run has this id, or it has expired.'],
  CALL_NOT_FOUND:              [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'The run has no such call, or its prompt and reply were not kept. GET its records to list them.'],
  RUN_ERASED:                  [410, 'not_found_error',        'caller_unknown',          no,  no,  no,  'This run was deleted.'],
  RUN_NOT_ENDED:               [409, 'invalid_request_error',  'caller_invalid',          yes, no,  no,  'The run has not ended. Cancel it first: POST /v1/runs/{id}/commands with {"command": "cancel"}.'],
  RESPONSE_NOT_FOUND:          [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'No stored response has this id, or it has expired.'],
  ROUTE_NOT_FOUND:             [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'No such endpoint. GET /openapi.json lists the endpoints.'],
  METHOD_NOT_ALLOWED:          [405, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'This endpoint does not take that method. GET /openapi.json lists the endpoints.'],
  WEBHOOK_UNKNOWN:             [400, 'invalid_request_error',  'caller_unknown',          no,  no,  no,  'No webhook of this name may be used. The operator names them under `webhooks` in conclave.yaml, with the tenants that may use them.'],
  WEBHOOK_REFUSED:             [400, 'invalid_request_error',  'policy_address',          no,  no,  no,  'The address of this webhook may not be called. The operator allows hosts under `webhook_delivery.client_hosts`; or use the name of a configured webhook.'],
  WEBHOOK_FAILED:              [502, 'upstream_error',         'provider_webhook',        yes, no,  no,  'The receiver of the webhook did not accept the delivery.'],
  COMMAND_REJECTED:            [409, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The run cannot take this command in its current state.'],
  FORK_REFUSED:                [409, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The run cannot be forked there.'],
  COMMAND_NOT_TAKEN:           [409, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'Runs of this strategy never take this command. Send another command.'],
  OVERLOADED:                  [429, 'rate_limit_error',       'policy_overload',         yes, no,  no,  'The gateway has reached its maximum number of runs. Try again after the time in Retry-After.'],
  RATE_LIMITED:                [429, 'rate_limit_error',       'policy_rate',             yes, no,  no,  'A limit of this API key or of its tenant is reached. Try again after the time in Retry-After.'],
  BUDGET_SPENT:                [429, 'rate_limit_error',       'policy_quota',            no,  no,  no,  'A budget of this API key or of its tenant is spent. An admin can raise it (`limits` of the key or the tenant); otherwise wait for the next day or month (UTC).'],
  UPLOADS_BUSY:                [429, 'rate_limit_error',       'policy_overload',         yes, no,  no,  'Too many documents are being uploaded at the same time. Send this one again after the time in Retry-After.'],
  STREAMS_OPEN:                [429, 'rate_limit_error',       'policy_overload',         yes, no,  no,  'This API key has too many event streams open at this gateway (`gateway.max_event_streams`). Close one, or try again after the time in Retry-After.'],
  QUEUE_TOO_LONG:              [503, 'server_error',           'policy_overload',         yes, no,  no,  'The workers are overloaded: tasks of a new run would wait longer than `gateway.max_queue_wait_s` allows. Try again after the time in Retry-After.'],
  NOT_READY:                   [503, 'server_error',           'own_unavailable',         yes, no,  no,  'The gateway is not ready to accept work. Try again after the time in Retry-After.'],
  LOG_UNAVAILABLE:             [503, 'server_error',           'own_unavailable',         yes, yes, no,  'The event log does not answer.'],
  COMMIT_CONFLICT:             [503, 'server_error',           'own_conflict',            yes, no,  no,  'The run changed too often at the same time. Try again.'],
  BLOB_CORRUPT:                [500, 'server_error',           'own_store',               no,  no,  no,  'A stored body does not match its hash.'],
  BLOB_MISSING:                [500, 'server_error',           'own_store',               yes, yes, no,  'A stored body is missing.'],
  CACHE_VALUE_TOO_LARGE:       [500, 'server_error',           'own_store',               no,  no,  no,  'The value is too large for a cache entry. Store its body as a blob and cache the reference.'],
  EVENT_UNDECODABLE:           [500, 'server_error',           'own_contract',            no,  no,  no,  'This version cannot read a record on the log.'],
  EVENT_ERASED:                [410, 'server_error',           'caller_unknown',          no,  no,  no,  'The run of this record was deleted.'],
  SEAL_KEY_MISSING:            [503, 'server_error',           'caller_configuration',    no,  yes, no,  'Bodies on the event log are sealed, and this process does not have the key: give every process the same CONCLAVE_SEAL_KEY_FILE.'],
  CONFIGURATION_INVALID:       [500, 'server_error',           'caller_configuration',    no,  no,  no,  'The configuration has mistakes. Correct what is named and start again.'],
  PROVIDER_UNREACHABLE:        [502, 'upstream_error',         'provider_unreachable',    yes, no,  no,  'The model server does not answer. Check that it runs and that `base_url` is right.'],
  PROVIDER_REFUSED:            [502, 'upstream_error',         'provider_refused',        no,  no,  no,  'The model server refused the request.'],
  PROVIDER_MODEL_UNKNOWN:      [502, 'upstream_error',         'provider_refused',        no,  no,  no,  'The model server does not have a model that Conclave was set up to use. Load it there, or correct its name in the configuration.'],
  PROVIDER_UNAUTHENTICATED:    [502, 'upstream_error',         'provider_auth',           no,  no,  no,  'The model server rejected the API key. Check the variable that `api_key_env` names.'],
  PROVIDER_RATE_LIMITED:       [429, 'upstream_error',         'provider_rate_limit',     yes, no,  no,  'The model server refused the request because of its rate limit.'],
  PROVIDER_FAILED:             [502, 'upstream_error',         'provider_error',          yes, no,  no,  'The model server failed.'],
  PROVIDER_UNWELL:             [503, 'upstream_error',         'provider_unwell',         yes, no,  no,  'The model server failed too often recently and gets no calls for a while.'],
  PROVIDER_STREAM_BROKEN:      [502, 'upstream_error',         'provider_stream',         yes, no,  yes, 'The model server ended its stream before the answer was complete.'],
  PROVIDER_REPLY_INVALID:      [502, 'upstream_error',         'provider_reply',          no,  no,  no,  'A reply of the model server cannot be used: it is empty, does not follow the OpenAI protocol, or is not in the form that was requested.'],
  CONTEXT_OVERFLOW:            [400, 'upstream_error',         'provider_context',        no,  no,  no,  'The prompt is longer than the context of the model.'],
  CALL_TIMEOUT:                [504, 'upstream_error',         'provider_timeout',        yes, no,  yes, 'No answer came in time.'],
  CALL_CANCELLED:              [499, 'invalid_request_error',  'caller_cancelled',        no,  no,  no,  'The call was cancelled.'],
  TASK_EXPIRED:                [504, 'server_error',           'policy_deadline',         no,  no,  no,  'The task was not started before its deadline.'],
  ALLOWANCE_EXHAUSTED:         [422, 'invalid_request_error',  'policy_budget',           no,  no,  no,  'The limits of the run left no model call for this. Raise those in the request (`conclave`, `x-conclave-*`), or those of the template.'],
  CAPABILITY_UNSUPPORTED:      [500, 'server_error',           'own_capability',          no,  no,  no,  'The worker does not know this capability.'],
  WORKER_UNAVAILABLE:          [503, 'server_error',           'own_unavailable',         yes, no,  no,  'No worker for this class of tasks is running.'],
  RECORD_DEAD:                 [500, 'server_error',           'own_dead_letter',         no,  no,  no,  'A record of this run could not be handled and became a dead letter.'],
  DEAD_LETTER_NOT_FOUND:       [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'No dead letter has this id, or it has expired. `conclave dead list --all` lists them.'],
  DEAD_LETTER_SETTLED:         [409, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'This dead letter is already settled. Set `again` to re-drive it once more.'],
  RUN_FAILED:                  [502, 'server_error',           'own_run',                 yes, no,  yes, 'The run ended without any result to answer from.'],
  STRATEGY_FAILED:             [500, 'server_error',           'caller_configuration',    no,  no,  no,  'The code of this strategy failed. If it is an extension, whoever runs this system has to correct the module and restart; otherwise report it.'],
  RUN_CANCELLED:               [499, 'invalid_request_error',  'caller_cancelled',        no,  no,  yes, 'The run was cancelled.'],
  ANSWER_SUPERSEDED:           [502, 'server_error',           'own_superseded',          yes, no,  yes, 'The attempt that wrote the text so far failed and is being repeated. Send the request again with the same Idempotency-Key to follow the new attempt.'],
  SHUTTING_DOWN:               [503, 'server_error',           'own_shutdown',            yes, no,  no,  'The gateway is shutting down. Runs of `POST /v1/runs` continue; runs of other requests wait until the client repeats its request, and are cancelled if it does not.'],
  INTERNAL:                    [500, 'server_error',           '_other',                  yes, no,  no,  'An unexpected error occurred in Conclave.'],
  // Authentication and access.
  UNAUTHENTICATED:             [401, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'The API key is missing or unknown.'],
  DETAIL_NOT_ALLOWED:          [403, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'This API key may not see prompts and raw replies. Leave `detail` out, set `detail: full` for the key in conclave.yaml, or use the key of an admin.'],
  ADMIN_KEY_NEEDED:            [403, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'This route needs a key with the role admin: one with `role: admin` under `keys`, an issued one, or the one in the file `admin.key` of the data folder (CONCLAVE_ADMIN_KEY_FILE names another file). Send it as `Authorization: Bearer` or `x-api-key`.'],
  AUDITOR_KEY_NEEDED:          [403, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'The audit is read with a key of the role auditor or admin: one with that role under `keys`, or an issued one. Send it as `Authorization: Bearer` or `x-api-key`.'],
  USER_KEY_NEEDED:             [403, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'A key with the role auditor reads, and may fork and rerun runs; it may not ask, upload, rate or delete, or send commands to runs of other keys. Use a key with the role user or admin.'],
  OPERATOR_KEY_NEEDED:         [403, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'This route reads or changes data of all tenants: it needs an admin key of the tenant `default`.'],
  BEYOND_OWN_RIGHTS:           [403, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'An admin key cannot give rights that it does not have itself.'],
  HOST_NOT_ALLOWED:            [403, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'While no API keys are configured, this gateway only answers to loopback names, so that no web page can reach it under another name. Call it as 127.0.0.1 or localhost, add the name to `allowed_hosts` in conclave.yaml, or configure `keys`.'],
  ORIGIN_NOT_ALLOWED:          [403, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'While no API keys are configured, pages of other origins may not call this gateway. Call it from a program or from its own address, add the origin to `cors_origins` in conclave.yaml, or configure `keys`.'],
  CSRF_TOKEN_NEEDED:           [403, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'A signed-in page sends the header x-conclave-csrf with every request that changes something. Send the `csrf` of GET /v1/session.'],
  SESSION_ORIGIN_NOT_ALLOWED:  [403, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'A session cookie is accepted only from pages of this gateway. Call the gateway from its own address; if a proxy serves it under another name, add that name to `allowed_hosts` in conclave.yaml. Programs send their API key instead.'],
  SIGN_IN_LINK_INVALID:        [401, 'authentication_error',   'caller_unauthenticated',  no,  no,  no,  'This sign-in link was used before or has expired. Start Conclave again for another, or sign in with an API key.'],
  ENTITY_NOT_FOUND:            [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'The knowledge graph of this tenant knows nothing by this name.'],
  CACHE_NOT_FOUND:             [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'There is no such cache. GET /v1/admin/caches lists them.'],
  PROVIDER_NOT_FOUND:          [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'There is no provider of this name. GET /v1/admin/providers lists them.'],
  // Evidence: search, tools, pages, documents, mathematics, graph, vectors.
  ANSWER_NOT_IN_SCHEMA:        [502, 'upstream_error',         'provider_reply',          no,  no,  no,  'The answer does not match the JSON Schema of `response_format`, even after a repair.'],
  NOTHING_TO_SEARCH:           [409, 'invalid_request_error',  'caller_configuration',    no,  no,  no,  'There is nothing to search: no collection, no documents and no web search. Upload documents to a collection, or set `search.corpus` or `search.searxng` in conclave.yaml. The template `conclave` answers without any of them.'],
  SEARCH_UNAVAILABLE:          [502, 'upstream_error',         'provider_search',         yes, no,  no,  'The search server does not answer.'],
  PERMIT_INVALID:              [403, 'server_error',           'policy_permit',           no,  no,  no,  'The task has no valid capability token: the engine did not dispatch it, or it is for other work. Nothing was called.'],
  PERMIT_EXPIRED:              [403, 'server_error',           'policy_permit',           no,  no,  no,  'The capability token of the task has expired. Nothing was called.'],
  CAPABILITY_TOO_DEEP:         [403, 'server_error',           'policy_depth',            no,  no,  no,  'The policy of this capability does not allow it this deep in child runs. See `chain_depth` of `policies`.'],
  CAPABILITY_OUT_OF_HOURS:     [403, 'server_error',           'policy_hours',            yes, no,  no,  'The policy of this capability does not allow it at this time of day. See `hours` of `policies`.'],
  CAPABILITY_RATE_LIMITED:     [429, 'rate_limit_error',       'policy_rate',             yes, no,  no,  'The capability was called as often as its policy allows. Wait, or raise `rate` of `policies`.'],
  CAPABILITY_UNWELL:           [503, 'upstream_error',         'provider_unwell',         yes, no,  no,  'The capability failed too often recently and gets no calls for a while.'],
  TOOL_UNKNOWN:                [502, 'upstream_error',         'provider_tool',           no,  no,  no,  'No tool server offers a tool of this name.'],
  TOOL_ARGUMENTS_INVALID:      [502, 'upstream_error',         'provider_tool',           no,  no,  no,  'The arguments do not match what the tool expects.'],
  TOOL_FAILED:                 [502, 'upstream_error',         'provider_tool',           no,  no,  no,  'The tool returned no result.'],
  TOOL_SERVER_UNAVAILABLE:     [502, 'upstream_error',         'provider_tool',           yes, no,  no,  'The tool server does not answer.'],
  TOOL_RESULT_TOO_LARGE:       [502, 'upstream_error',         'provider_tool',           no,  no,  no,  'The result of the tool server is larger than the limit. Ask for less.'],
  PAGE_REFUSED:                [400, 'invalid_request_error',  'policy_address',          no,  no,  no,  'The address of this page may not be read. To allow it, add its host to `search.allow_hosts`.'],
  PAGE_UNAVAILABLE:            [502, 'upstream_error',         'provider_page',           yes, no,  no,  'The server of this page did not return it.'],
  PAGE_UNREADABLE:             [502, 'upstream_error',         'provider_page',           no,  no,  no,  'No text could be read from this page.'],
  PAGE_TOO_LARGE:              [502, 'upstream_error',         'provider_page',           no,  no,  no,  'The page is larger than the limit.'],
  DOCUMENT_UNSUPPORTED:        [415, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'Documents of this media type cannot be read. Send text, Markdown, HTML, PDF, DOCX, XLSX or PPTX.'],
  DOCUMENT_TOO_LARGE:          [413, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The document is larger than the limit. Split it.'],
  DOCUMENT_UNREADABLE:         [422, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'No text could be read from this document.'],
  MATH_INPUT_INVALID:          [400, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The mathematics cannot be read. Write it as in `3*x^2 + sqrt(2)`, with an operation such as solve, integrate or simplify.'],
  MATH_LIMIT:                  [422, 'invalid_request_error',  'policy_budget',           no,  no,  no,  'The calculation exceeds its limit of time, memory or size. Ask for less, or raise `math.seconds` or `math.memory_mb`.'],
  MATH_UNSUPPORTED:            [422, 'invalid_request_error',  'own_capability',          no,  no,  no,  'No exact result was found for this calculation.'],
  MATH_UNAVAILABLE:            [503, 'server_error',           'own_unavailable',         yes, no,  no,  'Neither SymPy nor the Compute Engine runs.'],
  GRAPH_UNAVAILABLE:           [503, 'server_error',           'own_unavailable',         yes, no,  no,  'The knowledge graph does not answer.'],
  VECTORS_UNAVAILABLE:         [503, 'server_error',           'own_unavailable',         yes, no,  no,  'The vector store does not answer.'],
  VECTORS_INCOMPATIBLE:        [500, 'server_error',           'caller_configuration',    no,  no,  no,  'Vectors do not fit their collection. A collection holds the vectors of one embedder only. Use a separate collection for each embedder.'],
  COLLECTION_NOT_FOUND:        [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'No collection has this name.'],
  // Changes by users while the system runs: ratings, collections, prompts, skills.
  FEEDBACK_GIVEN:              [409, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'This answer already has another rating or correction, which cannot be changed.'],
  ANSWER_NOT_THERE:            [409, 'invalid_request_error',  'caller_invalid',          yes, no,  no,  'The run has not ended, so there is no answer to rate yet. Send the rating after its end.'],
  ATTACHMENT_UNSUPPORTED:      [415, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'A template does not read this kind of content. Send text, images (PNG, JPEG, WebP, GIF) and files (text, Markdown, HTML, CSV, JSON, PDF, DOCX, XLSX, PPTX), or ask a model (`model@provider`) that takes it.'],
  ATTACHMENT_INVALID:          [400, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'This image or file cannot be read. Correct the named part and send it again.'],
  ATTACHMENTS_TOO_LARGE:       [413, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The images and files exceed the limits of this gateway. Send smaller or fewer ones, or raise `gateway.max_attachments` and `gateway.max_attachment_bytes`.'],
  ATTACHMENT_MISSING:          [500, 'server_error',           'own_unavailable',         no,  no,  no,  'An image or file of the question is no longer stored. Send the question again with it.'],
  VISION_MISSING:              [400, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'No expert of this template can look at images. Add `vision` to the `experts` of the template, with a model that can see, or ask such a model directly (`model@provider`).'],
  COLLECTION_EXISTS:           [409, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'A collection with this name but another description already exists. Choose another name, or delete it first.'],
  COLLECTION_FULL:             [409, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The collection or the tenant is at its limit. Delete what is no longer needed, then send it again.'],
  UPLOAD_QUOTA_REACHED:        [413, 'invalid_request_error',  'policy_quota',            no,  no,  no,  'This tenant has reached its upload limit for 30 days. Upload later, send less, or raise `gateway.max_tenant_upload_bytes`.'],
  DOCUMENT_NOT_FOUND:          [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'The collection has no document of this id. GET its documents to list them.'],
  PROMPT_NOT_FOUND:            [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'No prompt has this name. GET /v1/admin/prompts lists them.'],
  PROMPT_INVALID:              [400, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The text cannot replace this prompt.'],
  KEY_NOT_FOUND:               [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'No issued API key has this id. GET /v1/admin/keys lists them.'],
  KEY_REVOKED:                 [409, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'This key was revoked and cannot be used again. Issue another one.'],
  KEYS_FULL:                   [409, 'invalid_request_error',  'policy_quota',            no,  no,  no,  'No more API keys can be issued; revoked and expired ones count. Change or rotate an existing one, or raise `gateway.max_issued_keys`.'],
  SKILL_NOT_FOUND:             [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'No skill has this name. GET /v1/admin/skills lists them.'],
  SKILL_INVALID:               [400, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The skill is invalid.'],
  SETTING_CHANGED:             [409, 'invalid_request_error',  'caller_invalid',          no,  no,  no,  'The setting was changed in the meantime. Read it again, then repeat the change.'],
  SETTING_VERSION_NOT_FOUND:   [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'This version is not stored. GET the setting to list the stored versions.'],
  INSIGHT_NOT_FOUND:           [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'No insight of the knowledge graph has this id. GET /v1/knowledge/insights?run=<id> lists what was learned from a run.'],
  CONTRADICTION_NOT_FOUND:     [404, 'not_found_error',        'caller_unknown',          no,  no,  no,  'No contradiction of the knowledge graph has this id. GET /v1/admin/knowledge/quarantine lists them.'],
  // The state store, and the data folder of embedded mode.
  STORE_UNAVAILABLE:           [503, 'server_error',           'own_unavailable',         yes, yes, no,  'The state store does not answer.'],
  STORE_REPLACED:              [503, 'server_error',           'own_store',               no,  yes, no,  'The state store is empty or older than the event log. Run `conclave recover` first; nothing is consumed until then.'],
  STORE_FULL:                  [503, 'server_error',           'own_store',               yes, yes, no,  'The store is full. Free disk space; nothing that was acknowledged is lost.'],
  DATA_FOLDER_IN_USE:          [503, 'server_error',           'caller_configuration',    no,  no,  no,  'Another process already uses this data folder. Stop it, or set CONCLAVE_HOME to another folder.'],
  DATA_FOLDER_NEWER:           [503, 'server_error',           'caller_configuration',    no,  no,  no,  'The data folder was written by a newer version of Conclave. Start that version, or set CONCLAVE_HOME to another folder.'],
  DATA_FOLDER_OLDER:           [503, 'server_error',           'caller_configuration',    no,  no,  no,  'The data folder holds runs of an older version of Conclave, which this version does not read. Set CONCLAVE_HOME to another folder, or move this one away; the older version still reads it.'],
  STORE_OLDER:                 [503, 'server_error',           'caller_configuration',    no,  no,  no,  'The state store was written by an older version of Conclave, which this version does not read. Set another `stores.redis.key_prefix` and another `stores.kafka.topic_prefix`, or empty both; the older version still reads what is there.'],
  STORE_NEWER:                 [503, 'server_error',           'caller_configuration',    no,  no,  no,  'The state store was written by a newer version of Conclave. Start that version, or set another `stores.redis.key_prefix` and another `stores.kafka.topic_prefix`.'],
} as const satisfies Record<string, Row>;

export type FailureCode = keyof typeof rows;

/** Failures of a call that was refused before it was made: by its capability token, its policy or its circuit breaker. */
export const denials: ReadonlySet<string> = new Set<FailureCode>([
  'PERMIT_INVALID',
  'PERMIT_EXPIRED',
  'CAPABILITY_TOO_DEEP',
  'CAPABILITY_OUT_OF_HOURS',
  'CAPABILITY_RATE_LIMITED',
  'CAPABILITY_UNWELL',
]);

/** Every failure that a person or a caller can meet, by code. */
export const failures = Object.fromEntries(
  Object.entries<Row>(rows).map(([code, [status, type, errorType, retriable, outage, paid, message]]) => [
    code,
    { status, type, retriable, outage, paid, errorType, message } satisfies FailureSpec,
  ]),
) as Readonly<Record<FailureCode, FailureSpec>>;
