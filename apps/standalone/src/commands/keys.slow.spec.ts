import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeyCreated, KeyList, KeyView, TenantList, TenantView } from '@conclave/contracts';
import { loadConfiguration, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { exitCodes } from './ask.js';
import { GatewayClient } from './gateway-client.js';
import { keysCommand } from './keys.js';
import { findGateway } from './running-gateway.js';
import { tenantsCommand } from './tenants.js';
import { up } from './up.js';
import { commandPrefix } from './typed.js';

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-keys-'));
const sink = { write: () => undefined };
const load = (): Loaded => loadConfiguration({ CONCLAVE_HOME: home, PORT: '0' }, home, { categories: Object.keys(expertPrompts) });

let running: Awaited<ReturnType<typeof up>>;
beforeAll(async () => {
  running = await up({ loaded: load(), out: sink, terminal: sink, localServers });
}, 60_000);
afterAll(async () => {
  await running.close();
  rmSync(home, { recursive: true, force: true });
});

async function run(command: typeof keysCommand, args: readonly string[], gateway = async () => (await findGateway(load()))!) {
  let [text, warned] = ['', ''];
  const out = { write: (more: string) => void (text += more) };
  const code = await command({ gateway, args, out, terminal: { write: (more) => void (warned += more) } });
  return { code, text, warned };
}
const keys = (...args: readonly string[]) => run(keysCommand, args);
const tenants = (...args: readonly string[]) => run(tenantsCommand, args);
const json = async (...args: readonly string[]): Promise<unknown> => JSON.parse((await keys(...args, '--json')).text);
const created = async (...args: readonly string[]) => KeyCreated.parse(await json('create', ...args));
const statusWith = async (key: string): Promise<number> => {
  const { url } = (await findGateway(load()))!;
  return (await fetch(`${url}/v1/models`, { headers: { 'x-api-key': key } })).status;
};

describe('conclave keys', () => {
  it('issues a key and prints its value, and nothing else, to the output', async () => {
    const { code, text, warned } = await keys('create', 'front end', '--template', 'conclave-fast', '--expires', '90d');
    expect(code).toBe(exitCodes.answered);
    expect(text).toMatch(/^sk-cv-[\w-]{43}\n$/);
    expect(warned).toMatch(/^key_\w{16}\n {2}Name {7}front end\n/);
    expect(warned).toContain('Templates  conclave-fast\n');
    expect(warned).toContain('This value is shown only once.');
    expect(warned).not.toContain(text.trim());
    expect(await statusWith(text.trim())).toBe(200);
  });

  it('issues one with all options, shows and lists it', async () => {
    const limits = ['--limit', 'requests_per_minute=60', '--limit', 'cost_per_day=2.5'];
    const made = await created('all', '--tenant', 'acme', '--role', 'auditor', '--detail', 'full', '--expires', '2099-01-31', ...limits);
    expect(made).toMatchObject({
      ...{ name: 'all', tenant: 'acme', role: 'auditor', detail: 'full', templates: null, expires_at: Date.parse('2099-01-31') },
      limits: { requests_per_minute: 60, cost_per_day: 2.5, tokens_per_day: null },
    });
    const { key: value, ...view } = made;
    expect(KeyView.parse(await json('show', made.id))).toEqual(view);
    expect((await keys('show', made.id)).text).toMatch(
      /Value {6}sk-cv-….{4}\n {2}Tenant {5}acme\n {2}Role {7}auditor, detail full\n {2}State {6}active until 2099-01-31 00:00 UTC\n.*\n {2}Limits {5}requests_per_minute 60, cost_per_day 2\.5\n.*by admin\.key\n$/,
    );
    const { text } = await keys('list');
    expect(text).toContain(`${made.id}  ${made.hint}  acme          auditor  active until 2099-01-31 00:00 UTC  all\n`);
    expect(text).not.toContain(value);
    expect(KeyList.parse(await json('list', '--tenant', 'acme')).data).toEqual([view]);
  });

  it('changes what is named and leaves the rest, including other limits', async () => {
    const { id } = await created('x', '--limit', 'requests_per_minute=60', '--template', 'a', '--template', 'b', '--expires', '1h');
    const change = async (...args: readonly string[]) => KeyView.parse(await json('change', id, ...args));
    expect(await change('--limit', 'concurrent_runs=3', '--name', 'y')).toMatchObject({
      ...{ name: 'y', templates: ['a', 'b'], expires_at: expect.any(Number) },
      limits: { requests_per_minute: 60, concurrent_runs: 3 },
    });
    expect(await change('--limit', 'requests_per_minute=none')).toMatchObject({
      limits: { requests_per_minute: null, concurrent_runs: 3 },
    });
    expect(await change('--limit', 'concurrent_runs=none')).toMatchObject({ limits: null });
    expect(await change('--all-templates', '--never-expires', '--role', 'admin')).toMatchObject({
      ...{ templates: null, expires_at: null, role: 'admin' },
    });
  });

  it('lets one expire, rotates one and revokes some; a refusal does not stop the others', async () => {
    const [one, two] = [await created('one'), await created('two')];
    expect((await keys('expire', one.id)).text).toContain('expired 20');
    expect((await keys('expire', one.id, '--at', '2099-01-31')).text).toContain('active until 2099-01-31');
    const rotated = await keys('rotate', one.id, '--grace', '7d');
    expect(rotated.text).toMatch(/^sk-cv-[\w-]{43}\n$/);
    expect(rotated.warned).toContain('the value before it until');
    expect([await statusWith(one.key), await statusWith(rotated.text.trim())]).toEqual([200, 200]);
    const revoked = await keys('revoke', one.id, 'key_nothing', two.id);
    expect(revoked.code).toBe(exitCodes.failed);
    expect(revoked.warned).toMatch(/^Key key_nothing: No issued API key has this id\./);
    expect(revoked.text.match(/State {6}revoked 20/g)).toHaveLength(2);
    expect(await keys('revoke', two.id)).toMatchObject({ code: exitCodes.answered });
  });

  it.each([
    [['list', 'x'], '`keys list` takes no id.'],
    [['create'], 'Name the key, for people'],
    [['show'], 'Name one key by its id; `keys list` lists them.'],
    [['expire', 'a', 'b'], 'Name one key by its id'],
    [['revoke'], 'Name keys by their ids'],
    [['change', 'a'], 'Say what to change'],
    [['change', 'a', '--tenant', 'b'], '`keys change` does not take --tenant.'],
    [['create', 'a', '--grace', '5m'], '`keys create` does not take --grace.'],
    [['create', 'a', '--tempate', 'b'], 'There is no option --tempate. Did you mean --template?'],
    [['create', 'a', '--expires', 'soon'], '--expires is a span such as 90d, 12h or 30m, or a date such as 2027-01-31.'],
    [['rotate', 'a', '--grace', '2027-01-01'], '--grace is a span such as 7d'],
    [['create', 'a', '--limit', 'requests_per_min=5'], 'There is no limit "requests_per_min". Did you mean requests_per_minute?'],
    [['create', 'a', '--limit', 'rpm=5'], 'Known: requests_per_minute, '],
    [['create', 'a', '--limit', 'tokens_per_day=0'], '--limit tokens_per_day needs a number above 0'],
    [['change', 'a', '--template', 'b', '--all-templates'], '--template and --all-templates exclude each other.'],
    [['change', 'a', '--expires', '1d', '--never-expires'], '--expires and --never-expires exclude each other.'],
  ])('says what is wrong with %j', async (args, message) => {
    await expect(keys(...args)).rejects.toThrow(message);
  });

  it('passes on what the gateway refuses, and why', async () => {
    await expect(keys('show', 'key_nothing')).rejects.toThrow('No issued API key has this id.');
    await expect(keys('create', 'a', '--role', 'root')).rejects.toThrow('`role` invalid option');
    await expect(keys('create', 'a', '--limit', 'requests_per_minute=1.5')).rejects.toThrow('`limits.requests_per_minute`');
    const { url } = (await findGateway(load()))!;
    const user = await created('user');
    const by = (key?: string) => run(keysCommand, ['list'], () => Promise.resolve(new GatewayClient(url, key)));
    await expect(by(user.key)).rejects.toThrow(/needs a key with the role admin.*`admin.key` of the data folder/);
    await expect(by()).rejects.toThrow(/needs a key with the role admin/);
    await expect(by('sk-cv-unknown')).rejects.toThrow('The API key is missing or unknown.');
  });

  it('shows its help, also for an unknown verb', async () => {
    expect(await keys('--help')).toMatchObject({
      code: exitCodes.answered,
      text: expect.stringContaining(`${commandPrefix} keys rotate <id>`),
    });
    expect(await keys()).toMatchObject({ code: exitCodes.usage, warned: expect.stringMatching(/^A command for keys is missing\./) });
    expect(await keys('drop')).toMatchObject({
      code: exitCodes.usage,
      warned: expect.stringMatching(/^There is no command "keys drop"\./),
    });
  });
});

describe('conclave tenants', () => {
  it('sets limits of a tenant, keeps those that are not named, and lists them', async () => {
    expect((await tenants('set', 'initech', '--limit', 'tokens_per_day=1000')).text).toBe('initech               tokens_per_day 1000\n');
    const set = await tenants('set', 'initech', '--limit', 'concurrent_runs=4', '--json');
    expect(TenantView.parse(JSON.parse(set.text))).toMatchObject({ limits: { tokens_per_day: 1000, concurrent_runs: 4 } });
    expect((await tenants('list')).text).toMatch(/^default {15}no limits\n(.*\n)*initech {15}concurrent_runs 4, tokens_per_day 1000\n$/m);
    const only = await tenants('set', 'initech', '--no-limits', '--limit', 'cost_per_month=9');
    expect(only.text).toBe('initech               cost_per_month 9\n');
    expect((await tenants('set', 'initech', '--no-limits')).text).toBe('initech               no limits\n');
    const list = TenantList.parse(JSON.parse((await tenants('list', '--json')).text));
    expect(list.data.map(({ id }) => id)).toEqual(expect.arrayContaining(['default', 'initech']));
  });

  it.each([
    [['set'], 'Name one tenant'],
    [['set', 'a', 'b', '--no-limits'], 'Name one tenant'],
    [['set', 'a'], 'Say which limits'],
    [['list', 'a'], 'takes neither a tenant nor limits'],
    [['set', '-5', '--no-limits'], 'There is no option -5.'],
    [['set', '../a', '--no-limits'], 'must be a name of at most 64 letters'],
  ])('says what is wrong with %j', async (args, message) => {
    await expect(tenants(...args)).rejects.toThrow(message);
  });

  it('shows its help, also for an unknown verb', async () => {
    expect(await tenants('-h')).toMatchObject({ code: exitCodes.answered, text: expect.stringContaining(`${commandPrefix} tenants set`) });
    expect(await tenants('drop')).toMatchObject({
      code: exitCodes.usage,
      warned: expect.stringMatching(/^There is no command "tenants drop"\./),
    });
  });
});
