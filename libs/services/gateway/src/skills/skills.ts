import { Inject, Injectable } from '@nestjs/common';
import { Failure, type SkillItem, type SkillList, type SkillView, skillSetting, skillName } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import { longestArguments, readSkill, skillCallIn, skillPrompt, type Skill } from './skill.js';
import * as z from 'zod';
import type { ClientQuestion } from '../chat/chat-request.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { SettingChanges } from '../settings/setting-changes.js';
import { SkillFolder } from './skill-folder.js';

/** A skill added over HTTP; a removed one has no text. The approval is for this text only. */
const StoredSkill = z.object({ text: z.string().nullable(), approvedBy: z.string().nullable() });

interface StoredSkill {
  readonly version: number;
  readonly text: string;
  readonly approved: boolean;
  readonly skill: Skill | null;
}

/** Skills by name: the operator's files first, then those added over HTTP. */
@Injectable()
export class Skills {
  private readonly folder: SkillFolder | null;

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings'>,
    @Inject(SettingChanges) private readonly changes: SettingChanges,
  ) {
    this.folder = options.skillFolder ? new SkillFolder(options.skillFolder) : null;
  }

  /**
   * Returns the question with the prompt of the skill it calls. Without an approved skill of that name it stays plain text, which also
   * hides which skills await approval. Approval is looked up for each call. Throws REQUEST_INVALID for arguments that are too long,
   * STORE_*.
   */
  async applied<Q extends ClientQuestion>(question: Q): Promise<Q> {
    const call = skillCallIn(question.goal);
    const found = call && (await this.approved(call.name));
    if (!call || !found) return question;
    if (call.arguments.length > longestArguments)
      throw new Failure('REQUEST_INVALID', `The skill /${call.name} takes at most ${longestArguments} characters after its name.`, {
        param: 'messages',
      });
    const { skill, version } = found;
    this.options.logger.info('skill called', { skill: call.name, version });
    return { ...question, goal: skillPrompt(skill, call.arguments), skill: { ...call, version } };
  }

  async list(): Promise<SkillList> {
    const files = (await this.folder?.list()) ?? [];
    const names = new Set(files.map(({ name }) => name));
    const prefix = skillSetting('');
    const settings = (await this.state.settings.list(prefix)).map(({ name }) => name.slice(prefix.length));
    const stored = await Promise.all(
      settings.filter((name) => !names.has(name)).map(async (name) => [name, await this.stored(name)] as const),
    );
    return {
      object: 'list',
      data: [
        ...files.flatMap((file) => ('skill' in file ? [itemOf(file.name, 'file', file.skill, file.skill.version, true)] : [])),
        ...stored.flatMap(([name, one]) => (one ? [itemOf(name, 'setting', one.skill, one.version, one.approved)] : [])),
      ].sort((a, b) => (a.name < b.name ? -1 : 1)),
      problems: files.flatMap((file) => ('faults' in file ? [`${file.name}.md: ${file.faults.join(' ')}`] : [])),
    };
  }

  /** Throws SKILL_NOT_FOUND. */
  async view(name: string): Promise<SkillView> {
    const file = await this.folder?.find(name);
    if (file && 'skill' in file) return { ...itemOf(name, 'file', file.skill, file.skill.version, true), text: file.text };
    const stored = await this.stored(name);
    if (!stored) throw new Failure('SKILL_NOT_FOUND');
    return { ...itemOf(name, 'setting', stored.skill, stored.version, stored.approved), text: stored.text };
  }

  /** A changed text loses its approval. Throws SKILL_INVALID, SETTING_CHANGED. */
  async change(name: string, text: string, actor: string): Promise<SkillView> {
    await this.assertNoFile(name);
    const read = readSkill(name, text);
    if ('faults' in read) throw new Failure('SKILL_INVALID', read.faults.join(' '), { param: 'text' });
    const present = await this.stored(name);
    // An unchanged text keeps its approval.
    if (present?.text !== text)
      await this.changes.write({ name: skillSetting(name), actor, value: { text, approvedBy: null }, expected: present?.version ?? null });
    return this.view(name);
  }

  /** Throws SKILL_NOT_FOUND, and SETTING_CHANGED when the text differs from the one that was read. */
  async approve(name: string, version: number, approved: boolean, actor: string): Promise<SkillView> {
    await this.assertNoFile(name);
    const present = await this.stored(name);
    if (!present) throw new Failure('SKILL_NOT_FOUND');
    if (present.version !== version) throw new Failure('SETTING_CHANGED', `Its current version is ${present.version}.`);
    if (present.approved !== approved)
      await this.changes.write({
        name: skillSetting(name),
        actor,
        value: { text: present.text, approvedBy: approved ? actor : null },
        expected: version,
      });
    return this.view(name);
  }

  /** Throws SKILL_NOT_FOUND. */
  async remove(name: string, actor: string): Promise<void> {
    await this.assertNoFile(name);
    if (!(await this.stored(name))) throw new Failure('SKILL_NOT_FOUND');
    await this.changes.write({ name: skillSetting(name), actor, value: { text: null, approvedBy: null }, expected: null });
  }

  private async approved(name: string): Promise<{ readonly skill: Skill; readonly version: number } | null> {
    const file = await this.folder?.find(name);
    if (file) {
      if ('skill' in file) return { skill: file.skill, version: file.skill.version };
      this.options.logger.warn('A file of the skill folder is not a valid skill.', { skill: name, faults: file.faults });
      return null;
    }
    const stored = await this.stored(name);
    return stored?.approved && stored.skill ? { skill: stored.skill, version: stored.version } : null;
  }

  private async assertNoFile(name: string): Promise<void> {
    if (await this.folder?.find(name)) throw new Failure('SKILL_INVALID', 'A file of the skill folder has this name. Change that file.');
  }

  private async stored(name: string): Promise<StoredSkill | null> {
    if (!skillName.test(name)) return null;
    const setting = await this.state.settings.read(skillSetting(name));
    const value = StoredSkill.safeParse(setting?.value);
    if (!setting || !value.success || value.data.text === null) return null;
    const { text, approvedBy } = value.data;
    const read = readSkill(name, text);
    return { version: setting.version, text, approved: approvedBy !== null, skill: 'skill' in read ? read.skill : null };
  }
}

const itemOf = (name: string, source: SkillItem['source'], skill: Skill | null, version: number, approved: boolean): SkillItem => ({
  object: 'skill',
  name,
  description: skill?.description ?? '',
  source,
  version,
  approved: approved && skill !== null,
});
