import { KeyCreated, KeyList, KeyView } from '@conclave/contracts';
import { short } from '@conclave/platform';
import { limitHelp, limitsFrom, limitText, momentFrom, secondsFrom, userLimitHelp } from './account-options.js';
import { exitCodes } from './ask.js';
import { type GatewayClient, GatewayRefusal } from './gateway-client.js';
import { commandPrefix, typed } from './typed.js';
import { readArguments, UsageMistake } from './usage.js';

export const keysHelp = `conclave keys: API keys that the running gateway issues

  conclave keys create <name>          prints the value, once: the gateway keeps only a hash of it
      --tenant <t>                     default: default
      --role user|auditor|admin        default: user
      --detail redacted|full           full: its runs keep prompts and raw replies
      --template <id>                  may use only this id; can be repeated. GET /v1/models lists the ids
      --expires <time>                 a span such as 90d, or a date
${limitHelp}
${userLimitHelp}
  conclave keys list                   newest first; --tenant <t>
  conclave keys show <id>
  conclave keys change <id>            options of create, except --tenant; also --name <text>,
      --all-templates --never-expires  which remove a restriction
  conclave keys expire <id>            from now on, or --at <time>; \`change\` can set another time
  conclave keys revoke <id>...         permanently; open requests are cut
  conclave keys rotate <id>            prints another value
      --grace <span>                   for which the old value is still accepted, such as 7d

  --json prints what the admin API answers. Needs an admin key: the admin.key of the data folder is used by default,
  CONCLAVE_ADMIN_KEY_FILE names another file, CONCLAVE_API_KEY sets another key, CONCLAVE_URL names another gateway.
`;

export interface AdminCommand {
  readonly gateway: () => Promise<GatewayClient>;
  /** Arguments after the command's name. */
  readonly args: readonly string[];
  readonly out: { write(text: string): unknown };
  readonly terminal: { write(text: string): unknown };
}

const verbs = ['create', 'list', 'show', 'change', 'expire', 'revoke', 'rotate'] as const;
/** Options that only some verbs accept. */
const taken: Readonly<Record<string, readonly (typeof verbs)[number][]>> = {
  name: ['change'],
  tenant: ['create', 'list'],
  role: ['create', 'change'],
  detail: ['create', 'change'],
  template: ['create', 'change'],
  'all-templates': ['change'],
  limit: ['create', 'change'],
  'no-limits': ['change'],
  'user-limit': ['create', 'change'],
  'no-user-limits': ['change'],
  expires: ['create', 'change'],
  'never-expires': ['change'],
  at: ['expire'],
  grace: ['rotate'],
};

const path = (id = '', verb = ''): string => `/v1/admin/keys${id === '' ? '' : `/${encodeURIComponent(id)}`}${verb}`;

/** Returns the exit code. Throws UsageMistake, GatewayRefusal. */
export async function keysCommand({ gateway, args, out, terminal }: AdminCommand): Promise<number> {
  const { positionals, values } = readArguments(args, {
    name: { type: 'string' },
    tenant: { type: 'string' },
    role: { type: 'string' },
    detail: { type: 'string' },
    template: { type: 'string', multiple: true },
    'all-templates': { type: 'boolean' },
    limit: { type: 'string', multiple: true },
    'no-limits': { type: 'boolean' },
    'user-limit': { type: 'string', multiple: true },
    'no-user-limits': { type: 'boolean' },
    expires: { type: 'string' },
    'never-expires': { type: 'boolean' },
    at: { type: 'string' },
    grace: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  });
  const [word, ...ids] = positionals;
  const verb = verbs.find((known) => known === word);
  if (values.help) return (out.write(typed(keysHelp)), exitCodes.answered);
  if (!verb) {
    const why = word === undefined ? 'A command for keys is missing.' : `There is no command "keys ${word}".`;
    terminal.write(typed(`${why}\n\n${keysHelp}`));
    return exitCodes.usage;
  }
  for (const [option, by] of Object.entries(taken))
    if (values[option as keyof typeof values] !== undefined && !by.includes(verb))
      throw new UsageMistake(`\`keys ${verb}\` does not take --${option}.`);
  const [id = ''] = ids;
  if (verb === 'list' ? ids.length > 0 : ids.length !== 1 && !(verb === 'revoke' && ids.length > 1))
    throw new UsageMistake(
      verb === 'list'
        ? '`keys list` takes no id.'
        : verb === 'create'
          ? 'Name the key, for people: keys create "front end".'
          : `Name ${verb === 'revoke' ? 'keys by their ids' : 'one key by its id'}; \`keys list\` lists them.`,
    );
  if (values.template && values['all-templates']) throw new UsageMistake('--template and --all-templates exclude each other.');
  if (values.expires !== undefined && values['never-expires']) throw new UsageMistake('--expires and --never-expires exclude each other.');

  const now = Date.now();
  const expiry = values['never-expires'] ? null : values.expires === undefined ? undefined : momentFrom('expires', values.expires, now);
  const rights = (present: Pick<KeyView, 'limits' | 'user_limits'> | null) => ({
    ...optional({ role: values.role, detail: values.detail, expires_at: expiry }),
    ...optional({
      limits: limitsFrom(values.limit, values['no-limits'], present?.limits ?? null),
      user_limits: limitsFrom(values['user-limit'], values['no-user-limits'], present?.user_limits ?? null, 'user-limit'),
    }),
    ...optional({ templates: values['all-templates'] ? null : values.template }),
  });
  // Mistakes of the command line are reported before the first request.
  rights(null);
  const at = values.at === undefined ? now : momentFrom('at', values.at, now);
  const graceS = values.grace === undefined ? 0 : secondsFrom('grace', values.grace);
  const client = await gateway();

  const view = (answer: unknown): number => {
    const key = KeyView.parse(answer);
    out.write(values.json ? asJson(key) : keyText(key));
    return exitCodes.answered;
  };
  /** Only the value goes to the output, so that a script can read it from there. */
  const shownOnce = (answer: unknown): number => {
    const key = KeyCreated.parse(answer);
    if (values.json) return (out.write(asJson(key)), exitCodes.answered);
    terminal.write(keyText(key));
    out.write(`${key.key}\n`);
    terminal.write('This value is shown only once.\n');
    return exitCodes.answered;
  };
  switch (verb) {
    case 'create':
      return shownOnce(await client.json('POST', path(), { name: id, ...optional({ tenant: values.tenant }), ...rights(null) }));
    case 'list': {
      const list = await allKeys(client, values.tenant);
      if (values.json) out.write(asJson(list));
      else
        out.write(
          list.data.length === 0 ? `No keys are issued. Issue one: ${commandPrefix} keys create <name>\n` : list.data.map(lineOf).join(''),
        );
      return exitCodes.answered;
    }
    case 'show':
      return view(await client.json('GET', path(id)));
    case 'change': {
      const present = values.limit || values['user-limit'] ? KeyView.parse(await client.json('GET', path(id))) : null;
      const change = { ...optional({ name: values.name }), ...rights(present) };
      if (Object.keys(change).length === 0) throw new UsageMistake('Say what to change: `keys --help` lists the options.');
      return view(await client.json('PATCH', path(id), change));
    }
    case 'expire':
      return view(await client.json('PATCH', path(id), { expires_at: at }));
    case 'rotate':
      return shownOnce(await client.json('POST', path(id, '/rotate'), { grace_s: graceS }));
    case 'revoke':
      return revokeAll(client, ids, view, terminal);
  }
}

/** Every page of the list. */
async function allKeys(client: GatewayClient, tenant: string | undefined): Promise<KeyList> {
  const data: KeyView[] = [];
  for (let before: string | null = null; ;) {
    const query = new URLSearchParams({
      limit: '200',
      ...(tenant === undefined ? {} : { tenant }),
      ...(before === null ? {} : { before }),
    });
    const page = KeyList.parse(await client.json('GET', `${path()}?${query.toString()}`));
    data.push(...page.data);
    if (page.nextBefore === null) return { ...page, data };
    before = page.nextBefore;
  }
}

/** Revokes the keys one by one; a refusal does not stop the others. */
async function revokeAll(
  client: GatewayClient,
  ids: readonly string[],
  say: (answer: unknown) => unknown,
  terminal: AdminCommand['terminal'],
): Promise<number> {
  let refused = 0;
  for (const id of ids)
    try {
      say(await client.json('DELETE', path(id)));
    } catch (error) {
      if (!(error instanceof GatewayRefusal)) throw error;
      refused += 1;
      terminal.write(`Key ${short(id, 40)}: ${error.message}\n`);
    }
  return refused === 0 ? exitCodes.answered : exitCodes.failed;
}

/** Without the members that are undefined. */
const optional = <T extends object>(members: T): Partial<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;

export const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const minute = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function stateOf({ state, expires_at: expires, revoked_at: revoked }: KeyView): string {
  if (state === 'revoked') return `revoked ${minute(revoked!)}`;
  return expires === null ? 'active' : `${state === 'expired' ? 'expired' : 'active until'} ${minute(expires)}`;
}

const lineOf = (key: KeyView): string =>
  `${key.id}  ${key.hint}  ${key.tenant.padEnd(12)}  ${key.role.padEnd(7)}  ${stateOf(key)}  ${short(key.name, 100)}\n`;

function keyText(key: KeyView): string {
  const [limits, userLimits] = [limitText(key.limits), limitText(key.user_limits)];
  const lines: readonly (readonly [string, string | null])[] = [
    ['Name', short(key.name, 100)],
    ['Value', key.hint],
    ['Tenant', key.tenant],
    ['Role', `${key.role}${key.detail === 'full' ? ', detail full' : ''}`],
    ['State', stateOf(key)],
    ['Also', key.former_value_until === null ? null : `the value before it until ${minute(key.former_value_until)}`],
    ['Templates', key.templates ? short(key.templates.join(', '), 400) : 'all'],
    ['Limits', limits === '' ? null : limits],
    ['Each user', userLimits === '' ? null : userLimits],
    ['Issued', `${minute(key.created_at)} by ${short(key.created_by, 140)}`],
  ];
  return `${key.id}\n${lines.flatMap(([head, text]) => (text === null ? [] : [`  ${head.padEnd(10)} ${text}\n`])).join('')}`;
}
