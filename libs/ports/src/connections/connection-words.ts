/** What people read for the codes with which Node and its HTTP client say that a connection failed. A code of the system stays beside its words. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address, ECONNREFUSED',
  ENOTFOUND: 'its host name is not known, ENOTFOUND',
  EAI_AGAIN: 'its host name cannot be looked up now, EAI_AGAIN',
  EHOSTUNREACH: 'there is no way to its address, EHOSTUNREACH',
  ENETUNREACH: 'there is no way to its address, ENETUNREACH',
  ETIMEDOUT: 'no connection came about in time, ETIMEDOUT',
  ECONNRESET: 'it closed the connection, ECONNRESET',
  EPIPE: 'it closed the connection, EPIPE',
  UND_ERR_SOCKET: 'it closed the connection before its reply was whole',
  UND_ERR_CONNECT_TIMEOUT: 'no connection came about in time',
  UND_ERR_HEADERS_TIMEOUT: 'it was silent for too long',
  UND_ERR_BODY_TIMEOUT: 'it was silent for too long',
};

/** Why a connection failed, in words; a code that is not known here as it is. */
export const connectionWords = (code: string): string => (Object.hasOwn(words, code) ? words[code]! : code);
