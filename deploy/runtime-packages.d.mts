export const imported: readonly string[];
export function folders(names?: readonly string[], from?: string): readonly string[];
