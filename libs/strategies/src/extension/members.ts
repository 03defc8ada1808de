/** A phrase for each member that a description may not have, with the names that it may have. `has`: how the phrase begins. */
export const unknownMembers = (given: object, known: readonly string[], has = 'has'): string[] =>
  Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => `${has} the member \`${name}\`, which is unknown; there are: ${known.join(', ')}`);
