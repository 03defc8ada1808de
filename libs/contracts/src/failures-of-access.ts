import type { FailureSpec } from './failure-spec.js';

/** Rows about who may ask, from where, and what. */
export const accessFailures = {
  UNAUTHENTICATED: {
    status: 401,
    type: 'authentication_error',
    retriable: false,
    errorType: 'caller_unauthenticated',
    message: 'The API key is missing or not known.',
  },
  DETAIL_NOT_ALLOWED: {
    status: 403,
    type: 'authentication_error',
    retriable: false,
    errorType: 'caller_unauthenticated',
    message:
      'This API key may not see prompts and raw replies. Leave `detail` out, set `detail: full` for the key in conclave.yaml, or use the key of an admin.',
  },
  ADMIN_KEY_NEEDED: {
    status: 403,
    type: 'authentication_error',
    retriable: false,
    errorType: 'caller_unauthenticated',
    message:
      'This route needs a key with the role admin: one with `role: admin` under `keys`, or the one in the file `admin.key` of the data folder (CONCLAVE_ADMIN_KEY_FILE names another file). Send it as `Authorization: Bearer` or `x-api-key`.',
  },
  HOST_NOT_ALLOWED: {
    status: 403,
    type: 'authentication_error',
    retriable: false,
    errorType: 'caller_unauthenticated',
    message:
      'While no API keys are configured, this gateway answers to loopback names alone, so that no web page can reach it under a name of its own. Call it as 127.0.0.1 or localhost, add the name to `allowed_hosts` in conclave.yaml, or configure `keys`.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    type: 'authentication_error',
    retriable: false,
    errorType: 'caller_unauthenticated',
    message:
      'While no API keys are configured, pages of other origins may not call this gateway. Call it from a program or from its own address, or configure `keys`.',
  },
} as const satisfies Record<string, FailureSpec>;
