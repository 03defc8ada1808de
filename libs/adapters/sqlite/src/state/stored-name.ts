/**
 * A name that others choose, as it stands in a column. The native binding reads a text only up to its first NUL character, and writes
 * every half of a surrogate pair as the same replacement; the JSON of a string has neither.
 */
export const storedName = (name: string): string => JSON.stringify(name);

export const nameFrom = (stored: string): string => JSON.parse(stored) as string;
