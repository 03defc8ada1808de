import * as z from 'zod';

const isTimeZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

const TimeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
  .meta({ expected: 'a time of day, such as 06:30' });

const Rate = z.strictObject({
  calls: z.int().min(1).max(100_000).describe('maximum number of calls'),
  per_s: z.number().min(1).max(86_400).default(60).describe('seconds over which calls are counted, up to the present'),
  of: z.enum(['run', 'tenant']).default('run').describe('whose calls are counted together: those of one run, or of all runs of a tenant'),
});

const Hours = z.strictObject({
  from: TimeOfDay.describe('first minute of the day in which it may be called'),
  to: TimeOfDay.describe('first minute in which it may no longer be called; if before `from`, the window continues past midnight'),
  timezone: z
    .string()
    .refine(isTimeZone, 'there is no such time zone')
    .meta({ expected: 'a time zone, such as Europe/Berlin' })
    .default('UTC')
    .describe('time zone of both'),
});

const CapabilityBreaker = z.strictObject({
  failures: z.int().min(1).max(100).default(5).describe('failed calls in a row after which it gets no calls'),
  open_s: z.number().min(1).max(86_400).default(30).describe('seconds without calls; then one call tests whether it works again'),
  counts: z
    .enum(['delays', 'outages', 'errors'])
    .default('delays')
    .describe(
      'what counts as a failure: delays = no usable reply after a second or more; outages = no usable reply; errors = also a tool that answers with an error',
    ),
});

/** How a capability or a tool may be used. Every part has a default. */
export const CapabilityPolicy = z.strictObject({
  rate: Rate.optional().describe('how often it may be called; absent: as often as a run wants'),
  hours: Hours.optional().describe('times of day at which it may be called; absent: always'),
  chain_depth: z
    .int()
    .min(0)
    .max(3)
    .default(3)
    .describe('generations of child runs that may call it; 0 = only the run that a client requested'),
  breaker: CapabilityBreaker.default(CapabilityBreaker.parse({})).describe('circuit breaker, for each tenant'),
});
export type CapabilityPolicy = z.infer<typeof CapabilityPolicy>;

/** Policies by name; only the first of tool, capability and `*` that has an entry applies. */
export const CapabilityPolicies = z.record(z.string().min(1).max(200), CapabilityPolicy);
export type CapabilityPolicies = z.infer<typeof CapabilityPolicies>;

const standard = CapabilityPolicy.parse({});

/** The policy of a call. `tool` is `server.tool`, for tools. */
export function policyFor(policies: CapabilityPolicies, { capability, tool }: PolicySubject): CapabilityPolicy {
  const name = [tool, capability, '*'].find((one) => one !== null && Object.hasOwn(policies, one));
  return name ? policies[name]! : standard;
}

export interface PolicySubject {
  readonly capability: string;
  readonly tool: string | null;
}
