import type { Tone } from '../components/page.js';
import type { LiveTask } from './run-fold.js';

const capabilities: Readonly<Record<string, string>> = {
  research: 'Research',
  mcp: 'Tool',
  graph: 'Knowledge graph',
  'judge.gap': 'Gap check',
  'judge.synthesis': 'Composes the answer',
  'judge.critic': 'Critic',
  'judge.thinking': 'Thinks first',
  'collections.search': 'Document search',
  'collections.discover': 'Finds documents',
  'collections.read': 'Reads documents',
};

/** A capability for people: `expert.legal` is `Expert: legal`. */
export function capabilityText(capability: string): string {
  const known = capabilities[capability];
  if (known) return known;
  const [first = '', ...rest] = capability.split('.');
  const name = first === 'judge' ? '' : first.charAt(0).toUpperCase() + first.slice(1);
  const tail = rest.join(' ').replaceAll('_', ' ');
  if (name === '') return tail.charAt(0).toUpperCase() + tail.slice(1);
  return tail ? `${name}: ${tail}` : name;
}

const words: Readonly<Record<string, readonly [string, Tone]>> = {
  planned: ['planned', 'plain'],
  blocked: ['waits', 'plain'],
  open: ['working', 'busy'],
  ok: ['done', 'good'],
  error: ['failed', 'bad'],
  failed: ['failed', 'bad'],
  timeout: ['out of time', 'bad'],
  empty: ['nothing found', 'warn'],
  repeated: ['not repeated', 'warn'],
  cancelled: ['cancelled', 'warn'],
};

/** The state of a task, as a word and its colour. */
export const stateOf = ({ state }: Pick<LiveTask, 'state'>): readonly [string, Tone] => words[state] ?? [state, 'warn'];
