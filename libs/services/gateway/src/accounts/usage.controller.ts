import { Controller, Get, Inject, Query, Req } from '@nestjs/common';
import {
  addUsage,
  dayOf,
  Failure,
  noUsage,
  type Usage,
  type UsageGroup,
  usageGroups,
  type UsageReport,
  type UsageRow,
} from '@conclave/contracts';
import { accountMs, STATE, type StateStore, type UsageItem } from '@conclave/ports';
import type { Request } from 'express';
import { Callers, endUserHash, isEndUserHash } from '../http/caller.js';
import { textIn } from '../http/query.js';

/** The tenant whose admins may read the usage of every tenant. */
const operators = 'default';

type Query = Readonly<Record<string, unknown>>;

/** Usage by day, key, model and end user. */
@Controller('v1/usage')
export class UsageController {
  constructor(
    @Inject(STATE) private readonly state: Pick<StateStore, 'usage' | 'now'>,
    @Inject(Callers) private readonly callers: Callers,
  ) {}

  @Get()
  async usage(@Req() request: Request, @Query() query: Query): Promise<UsageReport> {
    const { caller, role } = await this.callers.reader(request);
    const tenant = textIn(query, 'tenant') ?? caller.tenant;
    if (tenant !== caller.tenant && !(role === 'admin' && caller.tenant === operators)) throw new Failure('OPERATOR_KEY_NEEDED');
    const { from, to } = periodIn(query, dayOf(await this.state.now()));
    const items = await this.state.usage.items({ tenant, from, to });
    const isOwn = ({ actor }: UsageItem): boolean => tenant === caller.tenant && actor === caller.actor;
    const user = userIn(query, tenant);
    const key = textIn(query, 'key');
    const shown = items
      .filter((item) => role !== 'user' || isOwn(item))
      .filter((item) => (key === null || item.actor === key) && (user === null || item.user === user));
    const own = items.filter(isOwn);
    return { object: 'usage', tenant, from, to, own: sumOf(own), total: sumOf(items), data: grouped(shown, groupsIn(query)) };
  }
}

const sumOf = (items: readonly UsageItem[]): Usage => items.map(({ usage }) => usage).reduce(addUsage, noUsage);

/** Sums of the items with equal values in every group, in the order of the groups. */
function grouped(items: readonly UsageItem[], groups: readonly UsageGroup[]): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const { day, actor, model, user, usage } of items) {
    const members = { day, key: actor, model, user };
    const shared = Object.fromEntries(groups.map((group) => [group, members[group]]));
    const name = JSON.stringify(groups.map((group) => members[group] ?? ''));
    const row = rows.get(name);
    rows.set(name, { ...shared, ...(row ? addUsage(row, usage) : usage) });
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

/** `from` and `to`; by default the current month up to today. Throws REQUEST_INVALID. */
function periodIn(query: Query, today: string): { readonly from: string; readonly to: string } {
  const to = dayIn(query, 'to') ?? today;
  const from = dayIn(query, 'from') ?? `${to.slice(0, 8)}01`;
  const length = Date.parse(to) - Date.parse(from);
  if (length < 0 || length > accountMs)
    throw new Failure('REQUEST_INVALID', '`from` must be at most 400 days before `to`.', { param: 'from' });
  return { from, to };
}

function dayIn(query: Query, name: string): string | null {
  const text = textIn(query, name);
  if (text === null) return null;
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  // Also refuses dates that JavaScript would roll over, such as 31 February.
  if (Number.isNaN(at) || dayOf(at) !== text)
    throw new Failure('REQUEST_INVALID', `\`${name}\` must be a day such as 2026-11-24.`, { param: name });
  return text;
}

/** `group_by`; every group by default. Throws REQUEST_INVALID. */
function groupsIn(query: Query): readonly UsageGroup[] {
  const asked = textIn(query, 'group_by')?.split(',') ?? [...usageGroups];
  const unknown = asked.find((name) => !(usageGroups as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new Failure('REQUEST_INVALID', `\`group_by\` may name ${usageGroups.join(', ')}, with commas between them.`, {
      param: 'group_by',
    });
  return usageGroups.filter((group) => asked.includes(group));
}

/** The hash of the requested end user, from the hash itself or from the id that the client sends. */
function userIn(query: Query, tenant: string): string | null {
  const asked = textIn(query, 'user');
  return asked === null || isEndUserHash(asked) ? asked : endUserHash(tenant, asked);
}
