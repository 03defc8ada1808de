import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cleared, Engine, workspaceRoot } from '@conclave/test-support/system';

const readme = (): string => readFileSync(join(workspaceRoot, 'README.md'), 'utf8');

interface Snippet {
  readonly language: 'sh' | 'js';
  readonly code: string;
  /** Line of its fence in README.md. */
  readonly line: number;
}

/** Fenced blocks of README.md that follow the comment `<!-- run -->`, exactly as they stand there. */
function runnableSnippets(text = readme()): readonly Snippet[] {
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
const sampleSources = (): readonly string[] => /\nSources:\n((?:\[\d+\].*\n)+)/.exec(readme())?.[1]?.trim().split('\n') ?? [];

// The README's snippets against a system without any provider or corpus of its own: what a newcomer has.
const snippets = runnableSnippets();
let engine: Engine;

beforeAll(async () => {
  engine = await Engine.start({ demo: true });
});
afterAll(() => engine?.stop());

/** Runs a snippet as a shell or node would, from the root of the repository. */
async function run({ language, code }: Snippet): Promise<{ code: number | null; output: string }> {
  const address = engine.url();
  // Only the port differs from what is written: a test cannot count on 8080.
  const text = code.replaceAll(/(?:127\.0\.0\.1|localhost):8080/g, new URL(address).host);
  // A script beside the workspace's own packages, so that it finds them as a user's project finds its own.
  const results = join(workspaceRoot, '.results');
  mkdirSync(results, { recursive: true });
  const folder = mkdtempSync(join(results, 'snippet-'));
  const file = join(folder, language === 'js' ? 'snippet.mjs' : 'snippet.sh');
  writeFileSync(file, text);
  const [command, args] = language === 'js' ? [process.execPath, [file]] : ['bash', ['-eu', '-o', 'pipefail', file]];
  const env = { ...process.env, ...cleared, ...engine.environment(), CONCLAVE_URL: address, PORT: new URL(address).port };
  const child = spawn(command, args, { cwd: workspaceRoot, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 50_000 });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => (output += part));
  const ended = await new Promise<number | null>((resolve) => child.once('close', resolve));
  rmSync(folder, { recursive: true });
  return { code: ended, output };
}

describe('the README', () => {
  it('has snippets to run in both languages', () => {
    expect(new Set(snippets.map(({ language }) => language))).toEqual(new Set(['sh', 'js']));
  });

  it('asks a question whose stream shows a re-plan, sources and its end', async () => {
    const curl = snippets.find(({ code }) => code.includes('curl') && code.includes('chat/completions') && code.includes('stream'));
    expect(curl).toBeDefined();
    const { output } = await run(curl!);
    expect(output).toContain('"role":"assistant"');
    expect(output).toContain('Agentic Loop — Iteration 1/');
    expect(output).toContain('Sources:');
    expect(output.trimEnd().endsWith('data: [DONE]')).toBe(true);
    // The sources that the README shows are the ones a reader gets.
    const shown = sampleSources();
    expect(shown.length).toBeGreaterThan(1);
    for (const source of shown) expect(output).toContain(source);
  });

  it.each(snippets.map((snippet): [string, Snippet] => [`${snippet.language} at line ${snippet.line}`, snippet]))(
    'works when pasted: %s',
    async (_name, snippet) => {
      const { code, output } = await run(snippet);
      expect([code, output]).toEqual([0, expect.stringMatching(/\S/)]);
      expect(output).not.toContain('"error"');
    },
  );
});
