import type { JsonObject } from '@conclave/ports';
import {
  hasExtraContent,
  hasRealSignatures,
  hasUnsignedCalls,
  refusesExtraContent,
  refusesSignatures,
  wantsSignatures,
  withoutExtraContent,
  withPlaceholders,
  withPlaceholdersOnly,
  withSignatures,
} from './call-signatures.js';
import type { Concession, Concessions } from './concession.js';
import { hasEarlierThinking, refusesEarlierThinking, withoutEarlierThinking } from './earlier-thinking.js';
import type { UpstreamError } from './error-body.js';
import {
  hasInstructions,
  hasLaterInstructions,
  hasNeighbours,
  refusesInstructions,
  refusesLaterInstructions,
  refusesNeighbours,
  withOneSystemMessage,
  withoutSystemMessage,
  withTurnsThatAlternate,
} from './system-messages.js';
import { hasToolFiles, hasToolFilesApart, refusesFiles, withoutToolFiles, withToolFilesApart } from './tool-files.js';
import {
  hasLongIds,
  hasUserAfterResults,
  refusesLongIds,
  refusesUserAfterResults,
  withReplyAfterResults,
  withShortIds,
} from './tool-turns.js';

/** How messages change for a server that refuses them. */
interface Change {
  readonly concession: Concession;
  readonly concerns: (messages: unknown) => messages is readonly JsonObject[];
  readonly isRefused: (said: UpstreamError) => boolean;
  readonly changed: (messages: readonly JsonObject[]) => readonly JsonObject[];
}

const inWords =
  (refuses: (message: string) => boolean) =>
  ({ message }: UpstreamError): boolean =>
    refuses(message);

/** In the order in which they are made, and tried: what changes least comes first. */
const changes: readonly Change[] = [
  {
    concession: 'no earlier thinking',
    concerns: hasEarlierThinking,
    isRefused: refusesEarlierThinking,
    changed: withoutEarlierThinking,
  },
  {
    concession: 'one system message',
    concerns: hasLaterInstructions,
    isRefused: inWords(refusesLaterInstructions),
    changed: withOneSystemMessage,
  },
  {
    concession: 'turns that alternate',
    concerns: hasNeighbours,
    isRefused: inWords(refusesNeighbours),
    changed: withTurnsThatAlternate,
  },
  {
    concession: 'no system message',
    concerns: hasInstructions,
    isRefused: inWords(refusesInstructions),
    changed: withoutSystemMessage,
  },
  {
    concession: 'a reply after results',
    concerns: hasUserAfterResults,
    isRefused: inWords(refusesUserAfterResults),
    changed: withReplyAfterResults,
  },
  { concession: 'short ids of calls', concerns: hasLongIds, isRefused: inWords(refusesLongIds), changed: withShortIds },
  {
    concession: 'placeholders for missing signatures',
    concerns: hasUnsignedCalls,
    isRefused: wantsSignatures,
    changed: withPlaceholders,
  },
  {
    concession: 'placeholders for signatures',
    concerns: hasRealSignatures,
    isRefused: refusesSignatures,
    changed: withPlaceholdersOnly,
  },
  {
    concession: 'no signatures of calls',
    concerns: hasExtraContent,
    isRefused: refusesExtraContent,
    changed: withoutExtraContent,
  },
];

/** The messages as the server takes them. */
export function messagesFor(messages: unknown, made: Concessions): unknown {
  const files = made.has('no files of tools') ? withoutToolFiles : withToolFilesApart;
  let shown = withSignatures(messages);
  if (hasToolFiles(shown)) shown = files(shown);
  for (const { concession, concerns, changed } of changes) if (made.has(concession) && concerns(shown)) shown = changed(shown);
  return shown;
}

/** What to change in messages that the server refused, or null. */
export function concessionOfMessages(said: UpstreamError, messages: unknown, made: Concessions): Concession | null {
  if (!made.has('no files of tools') && hasToolFilesApart(messages) && refusesFiles(said.message)) return 'no files of tools';
  const found = changes.find(({ concession, concerns, isRefused }) => !made.has(concession) && concerns(messages) && isRefused(said));
  return found?.concession ?? null;
}
