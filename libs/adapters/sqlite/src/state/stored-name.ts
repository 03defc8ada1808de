/**
 * Encodes an external name for a column. The native binding reads text only up to its first NUL character and writes every lone surrogate as the
 * same replacement; the JSON of a string has neither.
 */
export const storedName = (name: string): string => JSON.stringify(name);

export const nameFrom = (stored: string): string => JSON.parse(stored) as string;
