import { Failure } from '@conclave/contracts';

/** A chat body made from a request in another API, with the origin of each of its messages. */
export interface ChatFields {
  readonly body: Readonly<Record<string, unknown>>;
  /** Path of each chat message in the client's own request, such as `input[2]`. */
  readonly paths: readonly string[];
  /** Members whose names differ: from chat's name to the client's name. */
  readonly names: Readonly<Record<string, string>>;
}

/** The failure with the field names of its client: chat's `messages[1].content` may be `input[0].content`. */
export function namedAsSent(failure: Failure, { paths, names }: ChatFields): Failure {
  const { code, detail, options } = failure;
  const sent = (text: string): string => text.replace(/\bmessages\[(\d+)\]/g, (whole, at: string) => paths[Number(at)] ?? whole);
  const param = options.param === undefined ? undefined : (names[options.param] ?? sent(options.param));
  const quoted = detail?.replace(/`([^`]+)`/g, (_, name: string) => `\`${names[name] ?? sent(name)}\``);
  return new Failure(code, quoted, { ...options, ...(param === undefined ? {} : { param }) });
}

/** Omits a member that a client left out or sent as null. */
export const present = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
