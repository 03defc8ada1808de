import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  CapabilityPolicy,
  type Event,
  Failure,
  policyFor,
  type CapabilityPolicies,
  type Permit,
  type PolicySubject,
  type TaskDispatched,
} from '@conclave/contracts';
import type { Once } from '@conclave/ports';

/**
 * Capabilities without a token. Experts and judges call only models, which have slots, breakers and budgets; child runs get tokens for
 * their own calls.
 */
const withoutPermit: ReadonlySet<string> = new Set(['expert', 'judge', 'run']);

/** Whether tasks of a capability need a capability token. */
export const needsPermit = (capability: string): boolean => !withoutPermit.has(capability.split('.', 1)[0]!);

/** What a task calls, by the names that policies use. */
export const subjectOf = ({ data: { capability, input } }: TaskDispatched): PolicySubject => ({
  capability,
  tool: input.kind === 'mcp' ? input.tool : null,
});

const signed = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const begin = (key: Buffer): Buffer => signed(key, 'conclave capability 1');

/** Makes a token that allows only what all the caveats allow. */
export const mintPermit = (key: Buffer, caveats: readonly string[]): Permit => ({
  caveats: [...caveats],
  signature: caveats.reduce(signed, begin(key)).toString('base64url'),
});

/**
 * Returns the same token with one more caveat. This needs no key: each signature is the key of the next one, so that the holder of a token
 * can narrow it, and nobody can remove a caveat.
 */
export const narrowed = ({ caveats, signature }: Permit, caveat: string): Permit => ({
  caveats: [...caveats, caveat],
  signature: signed(Buffer.from(signature, 'base64url'), caveat).toString('base64url'),
});

/** What a token is checked against. */
export interface PermittedUse {
  readonly runId: string;
  readonly tenant: string;
  readonly taskId: string;
  readonly subject: PolicySubject;
  /** Milliseconds since 1970 by the store's clock. */
  readonly now: number;
}

type Check = (value: string, use: PermittedUse) => boolean;

const checks: Readonly<Record<string, Check>> = {
  run: (value, { runId }) => value === runId,
  tenant: (value, { tenant }) => value === tenant,
  task: (value, { taskId }) => value === taskId,
  capability: (value, { subject }) => value === subject.capability,
  tool: (value, { subject }) => value === subject.tool,
  expires: (value, { now }) => now < Number(value),
  policy: (value) => policyIn(value) !== null,
};
/** A token without one of these would be valid for more than one task. */
const needed = ['run', 'tenant', 'task', 'capability', 'expires', 'policy'];

const parted = (caveat: string): readonly [name: string, value: string] => {
  const at = caveat.indexOf('=');
  return at < 0 ? [caveat, ''] : [caveat.slice(0, at), caveat.slice(at + 1)];
};

function policyIn(value: string): CapabilityPolicy | null {
  try {
    const read = CapabilityPolicy.safeParse(JSON.parse(value));
    return read.success ? read.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The token of a dispatched task: only for this task, until its latest end, under the policy of its template. */
export function permitOf(task: TaskDispatched, policies: CapabilityPolicies, key: Buffer): Permit {
  const { runId, data } = task;
  const subject = subjectOf(task);
  return mintPermit(key, [
    `run=${runId}`,
    `tenant=${data.tenant}`,
    `task=${data.taskId}`,
    `capability=${subject.capability}`,
    ...(subject.tool === null ? [] : [`tool=${subject.tool}`]),
    `expires=${data.startBy + data.timeoutS * 1_000}`,
    `policy=${JSON.stringify(policyFor(policies, subject))}`,
  ]);
}

/** An output of the engine, with a token if it is a task that needs one and has none. Equal events get equal tokens. */
export function withPermit(event: Event, policies: CapabilityPolicies, key: Buffer): Event {
  if (event.type !== 'TaskDispatched') return event;
  const task = event as TaskDispatched;
  if (task.data.permit || !needsPermit(task.data.capability)) return event;
  return { ...task, data: { ...task.data, permit: permitOf(task, policies, key) } };
}

/**
 * Verifies the token of a task and returns the policies it names. Throws PERMIT_INVALID for a token that is missing, forged, for other
 * work, or with a caveat this version does not know; PERMIT_EXPIRED.
 */
export function verifiedPolicies(task: TaskDispatched, now: number, key: Buffer): readonly CapabilityPolicy[] {
  const { permit } = task.data;
  if (!permit) throw new Failure('PERMIT_INVALID', 'It has none.');
  const expected = permit.caveats.reduce(signed, begin(key));
  const given = Buffer.from(permit.signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new Failure('PERMIT_INVALID', 'Its signature is not valid here: do all processes have the same CONCLAVE_PERMIT_KEY?');
  const caveats = permit.caveats.map(parted);
  const missing = needed.find((name) => !caveats.some(([one]) => one === name));
  if (missing) throw new Failure('PERMIT_INVALID', `It names no ${missing}.`);
  const use: PermittedUse = { runId: task.runId, tenant: task.data.tenant, taskId: task.data.taskId, subject: subjectOf(task), now };
  for (const [name, value] of caveats) {
    if (!Object.hasOwn(checks, name)) throw new Failure('PERMIT_INVALID', 'It has a caveat that this version does not know.');
    if (checks[name]!(value, use)) continue;
    throw name === 'expires' ? new Failure('PERMIT_EXPIRED') : new Failure('PERMIT_INVALID', `It is for another ${name}.`);
  }
  return caveats.flatMap(([name, value]) => (name === 'policy' ? [policyIn(value)!] : []));
}

/** Not the name of any tenant: those begin with a letter or a digit. */
const ownTenant = '*';
const keyName = 'permit-key';

/**
 * The key that signs capability tokens. It is derived from the configured secret, or else from one that the first process makes and the
 * state store keeps, so that all processes on the same store have the same key.
 */
export class PermitKey {
  private known: Promise<Buffer> | null = null;

  constructor(
    private readonly once: Pick<Once, 'claim'>,
    private readonly secret?: string,
  ) {}

  /** Reads the store until it has answered once in the life of the process. Throws STORE_*. */
  get(): Promise<Buffer> {
    this.known ??= this.derived().catch((error: unknown) => {
      this.known = null;
      throw error;
    });
    return this.known;
  }

  private async derived(): Promise<Buffer> {
    const secret = this.secret ?? (await this.kept());
    return Buffer.from(hkdfSync('sha256', secret, '', 'conclave capability tokens', 32));
  }

  private async kept(): Promise<string> {
    const made = randomBytes(32).toString('base64url');
    const { holder } = await this.once.claim({ tenant: ownTenant, name: keyName, holder: made, ttlMs: null });
    return holder;
  }
}
