import { bounded, type ClientToolsAsked, type CommandIssued, type Fact } from '@conclave/contracts';
import type { RunState } from './state.js';

type Answer = Extract<CommandIssued['data']['command'], { name: 'answer' }>;

/** Maximum characters of one piece of a result, about as many as a prompt shows of a fact; maximum number of pieces of one result. */
const [pieceLength, mostPieces] = [800, 20];
/** Maximum characters of a call's arguments in the text of its result. */
const argumentsLength = 300;

/** Owner of the facts from results of the client's tools. */
export const clientToolsRef = (runId: string): string => `${runId}/tools`;

/** What people read while the run waits for its client. */
export const callsAsked = ({ calls }: ClientToolsAsked): string =>
  `The client has to call ${[...new Set(calls.map(({ name }) => name))].join(', ')} and to send the results.`;

/** The results as evidence, in the order of the calls. A call without a result says so. */
export function resultsAsEvidence({ runId, request, epoch }: RunState, { results = [] }: Answer): readonly Fact[] {
  const given = new Map(results.map(({ id, text }) => [id, text]));
  return (request.clientTools?.calls ?? []).flatMap(({ id, name, call }): Fact[] => {
    const source = { kind: 'tool', title: name, url: null } as const;
    const text = given.get(id)?.trim() ?? '';
    const said = `${name}(${argumentsOf(call)})`;
    // Numbered, because prompts show the latest facts first.
    return pieces(text === '' ? 'no result' : text).map((piece, index, all) => ({
      text: `${said}${all.length > 1 ? `, part ${index + 1} of ${all.length}` : ''}: ${piece}`,
      source,
      taskId: clientToolsRef(runId),
      epoch,
      confidence: text === '' ? 0 : 1,
    }));
  });
}

function argumentsOf(call: Readonly<Record<string, unknown>>): string {
  const made = (call['function'] ?? call['custom']) as Readonly<Record<string, unknown>> | undefined;
  const text = made?.['arguments'] ?? made?.['input'];
  return typeof text !== 'string' || text === '{}' ? '' : bounded(text, argumentsLength);
}

/** Cuts at white space if there is some. */
function pieces(text: string): readonly string[] {
  const found: string[] = [];
  let rest = text;
  while (rest !== '' && found.length < mostPieces) {
    const space = rest.length > pieceLength ? rest.lastIndexOf(' ', pieceLength) : -1;
    const end = rest.length <= pieceLength ? rest.length : space > pieceLength / 2 ? space : pieceLength;
    found.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return found;
}
