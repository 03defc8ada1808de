import type { Fact, Source } from '@conclave/contracts';

/** The sources of facts, each once: by its address, else by its file, else by its title. */
export const distinctSources = (facts: readonly Fact[]): readonly Source[] => [
  ...new Map(facts.map(({ source }) => [source.url ?? source.document ?? source.title, source])).values(),
];
