import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { longestSkill, skillName } from '@conclave/contracts';
import { readSkill, type Skill } from './skill.js';

/** Most files that are read. */
const mostFiles = 500;
/** Most bytes of a file that is read: four per character. */
const mostBytes = longestSkill * 4;

export type FolderSkill =
  { readonly name: string; readonly text: string; readonly skill: Skill } | { readonly name: string; readonly faults: readonly string[] };

/** Skills of a folder: each Markdown file is one and counts as approved. Read again each time, so that changes apply. */
export class SkillFolder {
  constructor(private readonly folder: string) {}

  /** Returns null if the file does not exist. */
  async find(name: string): Promise<FolderSkill | null> {
    if (!skillName.test(name)) return null;
    const path = join(this.folder, `${name}.md`);
    const found = await stat(path).catch(missing);
    if (!found?.isFile()) return null;
    if (found.size > mostBytes)
      return { name, faults: [`The file has ${found.size} bytes; a skill has at most ${longestSkill} characters.`] };
    const text = await readFile(path, 'utf8').catch(missing);
    if (text === null) return null;
    const read = readSkill(name, text);
    return 'skill' in read ? { name, text, skill: read.skill } : { name, faults: read.faults };
  }

  async list(): Promise<readonly FolderSkill[]> {
    const names = (await readdir(this.folder).catch(missing)) ?? [];
    const files = names
      .filter((name) => name.endsWith('.md'))
      .sort()
      .slice(0, mostFiles);
    const found = await Promise.all(
      files.map(async (file): Promise<FolderSkill | null> => {
        const name = file.slice(0, -'.md'.length);
        const skill = await this.find(name);
        return (
          skill ?? (skillName.test(name) ? null : { name, faults: ['Its name must consist of lower-case letters, digits, "-" and "_".'] })
        );
      }),
    );
    return found.filter((one) => one !== null);
  }
}

/** Returns null for a missing file; other errors mean that the folder cannot be read. */
function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
