export const passwords: readonly string[];
export function writePasswords(file: string): readonly string[];
