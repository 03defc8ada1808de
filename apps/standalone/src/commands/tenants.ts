import { TenantList, TenantView } from '@conclave/contracts';
import { limitHelp, limitsFrom, limitText } from './account-options.js';
import { exitCodes } from './ask.js';
import { asJson, type AdminCommand } from './keys.js';
import { typed } from './typed.js';
import { readArguments, UsageMistake } from './usage.js';

export const tenantsHelp = `conclave tenants: tenants of the running gateway, and limits of all keys of a tenant together

  conclave tenants list                those that have issued keys or limits
  conclave tenants set <tenant>        sets limits; limits that are not named stay
${limitHelp}

  --json prints what the admin API answers. Needs an admin key of the tenant \`default\` to set limits; see \`conclave keys --help\`.
`;

/** Returns the exit code. Throws UsageMistake, GatewayRefusal. */
export async function tenantsCommand({ gateway, args, out, terminal }: AdminCommand): Promise<number> {
  const { positionals, values } = readArguments(args, {
    limit: { type: 'string', multiple: true },
    'no-limits': { type: 'boolean' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  });
  const [verb, id, ...more] = positionals;
  if (values.help) return (out.write(typed(tenantsHelp)), exitCodes.answered);
  if (verb !== 'list' && verb !== 'set') {
    terminal.write(
      `${verb === undefined ? 'A command for tenants is missing.' : `There is no command "tenants ${verb}".`}\n\n${tenantsHelp}`,
    );
    return exitCodes.usage;
  }
  const given = limitsFrom(values.limit, values['no-limits'], null);
  if (verb === 'list') {
    if (id !== undefined || given !== undefined) throw new UsageMistake('`tenants list` takes neither a tenant nor limits.');
    const list = TenantList.parse(await (await gateway()).json('GET', '/v1/admin/tenants'));
    out.write(values.json ? asJson(list) : list.data.map(lineOf).join(''));
    return exitCodes.answered;
  }
  if (id === undefined || more.length > 0) throw new UsageMistake('Name one tenant: tenants set acme --limit requests_per_minute=60.');
  if (given === undefined) throw new UsageMistake('Say which limits: --limit <name>=<number>, or --no-limits.');
  const client = await gateway();
  const { data } = TenantList.parse(await client.json('GET', '/v1/admin/tenants'));
  const present = data.find((tenant) => tenant.id === id)?.limits ?? null;
  const limits = limitsFrom(values.limit, values['no-limits'], present) ?? null;
  const set = TenantView.parse(await client.json('PATCH', `/v1/admin/tenants/${encodeURIComponent(id)}`, { limits }));
  out.write(values.json ? asJson(set) : lineOf(set));
  return exitCodes.answered;
}

const lineOf = ({ id, limits }: TenantView): string => `${id.padEnd(20)}  ${limitText(limits) || 'no limits'}\n`;
