import type { InspectedDatabase } from '@conclave/adapter-sqlite';

export type { InspectedDatabase } from '@conclave/adapter-sqlite';

/** Copying and inspecting the files of embedded stores, for the command line. Loaded on demand. */
export const embeddedFiles = async (): Promise<{
  copyDatabase(home: string, target: string): void;
  hasLogAlone(home: string): boolean;
  inspectDatabase(file: string): InspectedDatabase;
  holdingFolder<T>(home: string, now: Date, work: () => T | Promise<T>): Promise<T>;
}> => {
  const { copyDatabase, hasLogAlone, inspectDatabase, holdingFolder } = await import('@conclave/adapter-sqlite');
  return { copyDatabase, hasLogAlone, inspectDatabase, holdingFolder };
};
