import type { FailureSpec } from './failure-spec.js';

/** Rows about the state store, and about the data folder that holds everything where it is embedded. */
export const storeFailures = {
  STORE_UNAVAILABLE: {
    status: 503,
    type: 'server_error',
    retriable: true,
    errorType: 'own_unavailable',
    message: 'The state store does not answer.',
  },
  STORE_REPLACED: {
    status: 503,
    type: 'server_error',
    retriable: false,
    errorType: 'own_store',
    message: 'The state store is empty or older than the event log. Run `conclave recover` before anything is consumed.',
  },
  STORE_FULL: {
    status: 503,
    type: 'server_error',
    retriable: true,
    errorType: 'own_store',
    message: 'The store has no room left. Free disk space; nothing that was acknowledged is lost.',
  },
  DATA_FOLDER_IN_USE: {
    status: 503,
    type: 'server_error',
    retriable: false,
    errorType: 'caller_configuration',
    message: 'Another process already uses this data folder. Stop it, or set CONCLAVE_HOME to another folder.',
  },
  DATA_FOLDER_NEWER: {
    status: 503,
    type: 'server_error',
    retriable: false,
    errorType: 'caller_configuration',
    message: 'The data folder was written by a newer version of Conclave. Start that version, or set CONCLAVE_HOME to another folder.',
  },
  DATA_FOLDER_OLDER: {
    status: 503,
    type: 'server_error',
    retriable: false,
    errorType: 'caller_configuration',
    message:
      'The data folder holds runs of an older version of Conclave, which this version does not read. Set CONCLAVE_HOME to another folder, or move this one away; the older version still reads it.',
  },
  STORE_OLDER: {
    status: 503,
    type: 'server_error',
    retriable: false,
    errorType: 'caller_configuration',
    message:
      'The state store was written by an older version of Conclave, which this version does not read. Set another `stores.redis.key_prefix` and another `stores.kafka.topic_prefix`, or empty both; the older version still reads what is there.',
  },
  STORE_NEWER: {
    status: 503,
    type: 'server_error',
    retriable: false,
    errorType: 'caller_configuration',
    message:
      'The state store was written by a newer version of Conclave. Start that version, or set another `stores.redis.key_prefix` and another `stores.kafka.topic_prefix`.',
  },
} as const satisfies Record<string, FailureSpec>;
