import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from '@conclave/test-support/system';

const readme = (): string => readFileSync(join(workspaceRoot, 'README.md'), 'utf8');

export interface Snippet {
  readonly language: 'sh' | 'js';
  readonly code: string;
  /** Line of its fence in README.md. */
  readonly line: number;
}

/** Fenced blocks of README.md that follow the comment `<!-- run -->`, exactly as they stand there. */
export function runnableSnippets(text = readme()): readonly Snippet[] {
  const snippets: Snippet[] = [];
  for (const match of text.matchAll(/<!-- run -->\s*\n```(\w+)\n([\s\S]*?)\n```/g)) {
    const line = text.slice(0, match.index).split('\n').length + 1;
    const language = match[1];
    if (language !== 'sh' && language !== 'js') throw new Error(`README.md:${line} is to be run, but is neither sh nor js.`);
    snippets.push({ language, code: match[2]!, line });
  }
  return snippets;
}

/** Lines under the first `Sources:` of README.md: those of the sample answer. */
export const sampleSources = (): readonly string[] => /\nSources:\n((?:\[\d+\].*\n)+)/.exec(readme())?.[1]?.trim().split('\n') ?? [];
