import { longestSkill, skillName } from '@conclave/contracts';
import { asData, dataRule } from '@conclave/strategies';

/** A prompt in Markdown with front matter that users call by its name. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** Raised by the author; default 1. */
  readonly version: number;
  /** The prompt, with `$ARGUMENTS` in place of the user's words. */
  readonly body: string;
}

/** A call at the start of a message: `/name arguments`. */
export interface SkillCall {
  readonly name: string;
  readonly arguments: string;
}

/** Most characters of the description of a skill, and of the arguments of one call. */
export const longestSkillDescription = 300;
export const longestArguments = 8_000;

const call = /^\s*\/([a-z][a-z0-9_-]{0,63})(?=\s|$)([\s\S]*)$/;

/** Returns null for a message without a call. The skill may not exist: the message may begin with a path. */
export function skillCallIn(message: string): SkillCall | null {
  const found = call.exec(message);
  return found ? { name: found[1]!, arguments: found[2]!.trim() } : null;
}

/** Parses a skill's file, or returns all its faults as sentences that say what to do. */
export function readSkill(name: string, text: string): { readonly skill: Skill } | { readonly faults: readonly string[] } {
  if (!skillName.test(name))
    return {
      faults: [
        `"${name.slice(0, 64)}" is not a valid skill name: use 1 to 64 lower-case letters, digits, "-" and "_", starting with a letter.`,
      ],
    };
  if (text.length > longestSkill) return { faults: [`The skill has ${text.length} characters; at most ${longestSkill} are allowed.`] };
  const parts = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text);
  if (!parts) return { faults: ['It has no front matter. Begin with a line "---", then name and description, then another line "---".'] };
  const { fields, faults } = fieldsOf(parts[1]!);
  const body = (parts[2] ?? '').trim();
  const description = fields.get('description') ?? '';
  const version = fields.get('version') ?? '1';
  const all = [
    ...faults,
    ...(fields.get('name') === name ? [] : [`Its front matter must say "name: ${name}".`]),
    ...(description === '' ? ['Its front matter must contain a description.'] : []),
    ...(description.length > longestSkillDescription ? [`The description must have at most ${longestSkillDescription} characters.`] : []),
    ...(/^\d{1,9}$/.test(version) ? [] : ['Its version must be a whole number.']),
    ...(body === '' ? ['There is no text after the front matter. Add the text of the question.'] : []),
  ];
  return all.length > 0 ? { faults: all } : { skill: { name, description, version: Number(version), body } };
}

/** Reads `key: value` lines, values with or without quotes; no other YAML. */
function fieldsOf(matter: string): { readonly fields: ReadonlyMap<string, string>; readonly faults: readonly string[] } {
  const fields = new Map<string, string>();
  const faults: string[] = [];
  for (const line of matter.split(/\r?\n/)) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const found = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/.exec(line);
    if (!found) faults.push(`The line "${line.slice(0, 60)}" of the front matter is not "name: value".`);
    else if (fields.has(found[1]!)) faults.push(`The front matter contains "${found[1]}" twice.`);
    else fields.set(found[1]!, unquoted((found[2] ?? '').trim()));
  }
  return { fields, faults };
}

const unquoted = (value: string): string => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;

/**
 * The prompt of one call. The user's words are inserted as quoted data: they are never read as part of the skill, and `$ARGUMENTS`
 * inside them stays as it is. A skill without `$ARGUMENTS` gets them at its end.
 */
export function skillPrompt({ body }: Pick<Skill, 'body'>, words: string): string {
  const mark = /\$ARGUMENTS(?![A-Za-z0-9_])/g;
  if (words.trim() === '') return body.replace(mark, '(none)');
  const quoted = `\n${asData(words)}\n`;
  const asked = mark.test(body) ? body.replace(mark, () => quoted) : `${body}\n\nArguments:${quoted}`;
  return `${asked.replace(/\n{3,}/g, '\n\n').trim()}\n\n${dataRule}`;
}
