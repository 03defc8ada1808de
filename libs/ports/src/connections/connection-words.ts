/** Readable text for connection error codes of Node and its HTTP client. The text keeps the system's own codes. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address, ECONNREFUSED',
  ENOTFOUND: 'its host name is unknown, ENOTFOUND',
  EAI_AGAIN: 'its host name cannot be looked up now, EAI_AGAIN',
  EHOSTUNREACH: 'there is no route to its address, EHOSTUNREACH',
  ENETUNREACH: 'there is no route to its address, ENETUNREACH',
  ETIMEDOUT: 'no connection was made in time, ETIMEDOUT',
  ECONNRESET: 'it closed the connection, ECONNRESET',
  EPIPE: 'it closed the connection, EPIPE',
  UND_ERR_SOCKET: 'it closed the connection before its reply was complete',
  UND_ERR_CONNECT_TIMEOUT: 'no connection was made in time',
  UND_ERR_HEADERS_TIMEOUT: 'it was silent for too long',
  UND_ERR_BODY_TIMEOUT: 'it was silent for too long',
};

/** Readable reason why a connection failed; returns an unknown code unchanged. */
export const connectionWords = (code: string): string => (Object.hasOwn(words, code) ? words[code]! : code);
