/** A phrase for each member that a description may not have, with the names that it may have. */
export const unknownMembers = (given: object, known: readonly string[]): string[] =>
  Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => `has the member \`${name}\`, which is unknown; there are: ${known.join(', ')}`);
