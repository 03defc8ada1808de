import * as z from 'zod';
import { Usage } from '../values.js';

/** Members by which usage can be listed. */
export const usageGroups = ['day', 'key', 'model', 'user'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export const UsageRow = Usage.extend({
  day: z.string().optional().describe('day (UTC), such as 2026-11-24'),
  key: z
    .string()
    .optional()
    .describe('who asked, as `caller.actor` of a run names it: the id of an issued key, or the fingerprint of another'),
  model: z.string().nullable().optional().describe('`model@provider`; null for calls from before models were counted'),
  user: z.string().nullable().optional().describe('hash of the end user whom a client behind a shared key named; null if it named none'),
});
export type UsageRow = z.infer<typeof UsageRow>;

/** What was spent in a period: every call to a model, including those of failed, cancelled and running runs. */
export const UsageReport = z.object({
  object: z.literal('usage'),
  tenant: z.string(),
  from: z.string().describe('first day (UTC)'),
  to: z.string().describe('last day (UTC)'),
  own: Usage.describe("sum of the caller's key"),
  total: Usage.describe('sum of the whole tenant'),
  data: z
    .array(UsageRow)
    .describe("by the members of `group_by`; only the caller's own usage unless its key is that of an auditor or an admin"),
});
export type UsageReport = z.infer<typeof UsageReport>;
