import type { Template } from '@conclave/contracts';

export const isExpert = (capability: string): boolean => capability.startsWith('expert.');

/** Class whose workers serve a capability: the exact entry, else the one of its first word. */
export function classOf(template: Template, capability: string): string {
  const word = capability.split('.')[0]!;
  // The process that decides starts child runs; judges run in the same one.
  const usual = word === 'expert' || word === 'judge' ? word : word === 'run' ? 'judge' : 'evidence';
  return template.classes[capability] ?? template.classes[word] ?? usual;
}
