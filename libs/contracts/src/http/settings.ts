import * as z from 'zod';
import { TemplateTuning } from '../configuration/index.js';
import { Timestamp } from '../values.js';

const wholeVersion = z.int({ error: 'must be a whole number from 0' }).nonnegative({ error: 'must be a whole number from 0' });
const SettingVersionItem = z.object({ version: z.int().positive(), at: Timestamp });

export const PromptItem = z.object({
  object: z.literal('prompt'),
  name: z.string(),
  shippedVersion: z.int().describe('increases with each change of the shipped text'),
  overridden: z.boolean().describe('whether the operator replaced its text'),
  version: z.int().nonnegative().describe('number of changes so far; 0 = never changed'),
});
export type PromptItem = z.infer<typeof PromptItem>;
export const PromptList = z.object({ object: z.literal('list'), data: z.array(PromptItem) });
export type PromptList = z.infer<typeof PromptList>;

export const PromptView = PromptItem.extend({
  shipped: z.string().describe('shipped text'),
  text: z.string().nullable().describe('text of the operator; null if the shipped one is used'),
  placeholders: z.array(z.string()).describe('names in braces that are filled in'),
  needed: z.array(z.string()).describe('names that must occur'),
  versions: z
    .array(SettingVersionItem.extend({ shipped: z.boolean().describe('whether that version was the shipped text') }))
    .describe('stored versions, newest first'),
});
export type PromptView = z.infer<typeof PromptView>;

export const PromptChange = z.object({
  text: z.string({ error: 'must be the text of the prompt' }).meta({ pattern: '\\S' }),
  version: wholeVersion.nullish().describe('version that was read; if it is no longer the current one, nothing is changed'),
});
export type PromptChange = z.infer<typeof PromptChange>;

const TemplateOptionValues = z.record(z.string(), z.unknown());

export const TemplateItem = z.object({
  object: z.literal('template'),
  id: z.string(),
  strategy: z.string(),
  description: z.string(),
  hash: z.string().nullable().describe('version of the whole template, as runs record it; null while it is not offered'),
  overridden: z.boolean().describe('whether options were changed while the system runs'),
  version: z.int().nonnegative().describe('number of changes so far; 0 = never changed'),
});
export type TemplateItem = z.infer<typeof TemplateItem>;
export const TemplateList = z.object({ object: z.literal('list'), data: z.array(TemplateItem) });
export type TemplateList = z.infer<typeof TemplateList>;

export const TemplateView = z.object({
  object: z.literal('template'),
  id: z.string(),
  strategy: z.string(),
  options: TemplateOptionValues.nullable().describe('options that new runs get; null while the template is not offered'),
  changed: TemplateOptionValues.nullable().describe('those changed while the system runs; null if none were'),
  settings: TemplateTuning.describe('models, limits and rounds changed while the system runs'),
  version: z.int().nonnegative().describe('number of changes so far; 0 = never changed'),
  resolved: TemplateOptionValues.nullable().describe('the whole template with every default filled in; null while it is not offered'),
  schema: TemplateOptionValues.describe('JSON Schema of its options'),
  settingsSchema: TemplateOptionValues.describe('JSON Schema of `settings`'),
  models: z.array(z.string()).describe('models that it can be given'),
  versions: z
    .array(
      SettingVersionItem.extend({
        actor: z.string().nullable().describe('who made it; null if that was not recorded with it'),
        options: TemplateOptionValues.describe('options that differed from the file'),
        settings: TemplateTuning.describe('models, limits and rounds that differed from it'),
      }),
    )
    .describe('stored versions, newest first'),
});
export type TemplateView = z.infer<typeof TemplateView>;

export const TemplateCheckRequest = z
  .strictObject({
    options: TemplateOptionValues.optional().describe('options that differ from the file'),
    settings: TemplateOptionValues.optional().describe('models, limits and rounds that differ from the file'),
    yaml: z
      .string({ error: 'must be a text' })
      .max(100_000)
      .optional()
      .describe('both as YAML, as below the name of a template in conclave.yaml: `options:` next to the other keys'),
  })
  .refine(({ options, settings, yaml }) => (options === undefined && settings === undefined) !== (yaml === undefined), {
    error: 'takes either `options` and `settings`, or `yaml`',
  })
  .meta({ oneOf: [{ required: ['yaml'] }, { anyOf: [{ required: ['options'] }, { required: ['settings'] }] }] });
export type TemplateCheckRequest = z.infer<typeof TemplateCheckRequest>;

export const TemplateCheck = z.object({
  object: z.literal('template_check'),
  valid: z.boolean(),
  faults: z.array(
    z.object({
      path: z
        .string()
        .describe('path of the faulty value, such as `options.max_iterations` or `judge.models.0`; empty for the text as a whole'),
      line: z.int().nullable(),
      message: z.string(),
    }),
  ),
  changed: TemplateOptionValues.nullable().describe('the options as read; null if the text cannot be read'),
  settings: TemplateOptionValues.nullable().describe('the rest as read; null if the text cannot be read'),
});
export type TemplateCheck = z.infer<typeof TemplateCheck>;

export const TemplateChange = z.object({
  options: z
    .record(z.string(), z.unknown(), { error: 'must be an object with options of the strategy' })
    .describe('options that differ from the file; {} restores those of the file'),
  settings: TemplateTuning.optional().describe(
    'models, limits and rounds that differ from the file; {} restores those of the file, absent keeps them',
  ),
  version: wholeVersion.nullish().describe('version that was read; if it is no longer the current one, nothing is changed'),
});
export type TemplateChange = z.infer<typeof TemplateChange>;

export const RollbackRequest = z.object({
  version: wholeVersion
    .nullish()
    .describe('version to restore, 0 = the shipped text or the file; absent: the version before the last change'),
});
export type RollbackRequest = z.infer<typeof RollbackRequest>;

/** Most characters of a skill. */
export const longestSkill = 20_000;
/** Names of skills. */
export const skillName = /^[a-z][a-z0-9_-]{0,63}$/;

export const SkillItem = z.object({
  object: z.literal('skill'),
  name: z.string().describe('written as `/name` at the start of a message'),
  description: z.string(),
  source: z.enum(['file', 'setting']).describe('file of the operator, or added over HTTP'),
  version: z.int().nonnegative(),
  approved: z.boolean().describe('a skill that is not approved never runs'),
});
export type SkillItem = z.infer<typeof SkillItem>;
export const SkillList = z.object({
  object: z.literal('list'),
  data: z.array(SkillItem),
  problems: z.array(z.string()).describe('sentences: files of the folder that are invalid skills'),
});
export type SkillList = z.infer<typeof SkillList>;
export const SkillView = SkillItem.extend({ text: z.string().describe('the whole file, front matter included') });
export type SkillView = z.infer<typeof SkillView>;

export const SkillChange = z.strictObject(
  { text: z.string({ error: 'must be Markdown with front matter' }).meta({ minLength: 1, maxLength: longestSkill }) },
  { error: 'takes only `text`; a skill is approved by a separate call, POST /v1/admin/skills/{name}/approval' },
);
export type SkillChange = z.infer<typeof SkillChange>;

export const SkillApproval = z.object({
  approved: z.boolean({ error: 'must be true or false' }),
  version: z.int({ error: 'must be the version that was read' }).positive({ error: 'must be the version that was read' }),
});
export type SkillApproval = z.infer<typeof SkillApproval>;

export const Contradiction = z.object({
  object: z.literal('contradiction'),
  id: z.string(),
  subject: z.string(),
  relation: z.string(),
  object_name: z.string().describe('object of the relation'),
  confidence: z.number(),
  source: z.string().describe('kind of source that states it'),
  domain: z.string(),
  reason: z.enum(['opposed', 'inverse', 'replaced']).describe('how it contradicts known facts'),
  contradicts: z.array(z.string()).describe('sentences it contradicts'),
  runs: z.array(z.string()).describe('runs that state it'),
  at: Timestamp,
  state: z.enum(['open', 'accepted', 'rejected']),
  decidedBy: z.string().nullable(),
  decidedAt: Timestamp.nullable(),
});
export type Contradiction = z.infer<typeof Contradiction>;
export const ContradictionList = z.object({ object: z.literal('list'), data: z.array(Contradiction).describe('newest first') });
export type ContradictionList = z.infer<typeof ContradictionList>;
export const ContradictionDecision = z.object({ accept: z.boolean({ error: 'must be true or false' }) });
export type ContradictionDecision = z.infer<typeof ContradictionDecision>;
