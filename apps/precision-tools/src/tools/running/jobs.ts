import { computingTools } from '../tools.js';

/** Names of the jobs that read a file of a law server; their argument is its bytes. */
export const readingJobs = { contents: 'read a table of contents', law: 'read a law' } as const;

/**
 * What a thread can do; a job that reads a document returns a promise. The arguments of tools were checked by their schema before they were
 * sent.
 */
export const jobs: ReadonlyMap<string, (args: unknown) => unknown> = new Map<string, (args: unknown) => unknown>([
  ...computingTools.map((tool) => [tool.name, (args: unknown) => tool.output.parse(tool.run(args as Record<string, unknown>))] as const),
  // Parsers that most threads never need: they are loaded for the first document.
  [readingJobs.contents, async (bytes) => (await import('../law/read-law.js')).readContents(bytes as Uint8Array)],
  [readingJobs.law, async (bytes) => (await import('../law/read-law.js')).readLaw(bytes as Uint8Array)],
]);
