import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PromptList, PromptView, type SettingChanged } from '@conclave/contracts';
import { shippedPrompts } from '@conclave/strategies';
import { byAdmin, World } from '../__fixtures__/world.js';
import { settingOffers } from './setting-offers.js';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const response = await fetch(`${world.url}/v1/admin/prompts${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...byAdmin, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown> & { error?: { code: string; message: string } },
  };
};
const put = (name: string, body: unknown) => call('PUT', `/${name}`, body, { 'x-conclave-actor': 'somebody-else' });
const back = (name: string, body: unknown = {}) => call('POST', `/${name}/rollback`, body);
const changes = () => world.events<SettingChanged>('audit');
const offered = () => settingOffers(world.stores.state, { warn: () => undefined })();

describe('prompts over HTTP', () => {
  it('are listed and shown with their shipped text', async () => {
    const list = PromptList.parse((await call('GET', '')).body);
    expect(list.data.map(({ name }) => name)).toEqual(shippedPrompts.map(({ name }) => name));
    expect(list.data.every(({ overridden, version }) => !overridden && version === 0)).toBe(true);
    const gap = PromptView.parse((await call('GET', '/gap')).body);
    expect(gap).toMatchObject({ text: null, placeholders: ['input', 'final_response'], needed: ['input', 'final_response'], versions: [] });
    expect(gap.shipped).toContain('COMPLETION_STATUS');
    expect(await call('GET', '/nothing')).toMatchObject({ status: 404, body: { error: { code: 'PROMPT_NOT_FOUND' } } });
  });

  it('are changed, new runs use the change, and the audit names who made it', async () => {
    expect((await offered()).prompts).toEqual({});
    const changed = await put('thinking', { text: 'Think hard.' });
    expect(changed.status).toBe(200);
    expect(PromptView.parse(changed.body)).toMatchObject({ text: 'Think hard.', version: 1, overridden: true });
    expect((await offered()).prompts).toEqual({ thinking: 'Think hard.' });
    expect(changes()).toMatchObject([
      {
        id: 'setting/prompts/thinking/1',
        data: { setting: 'prompts/thinking', actor: 'ada', before: null, after: { text: 'Think hard.' }, version: 1 },
      },
    ]);
  });

  it('are refused with an unknown placeholder, without a needed one, empty, and too long', async () => {
    const refused = async (name: string, text: unknown) => {
      const { status, body } = await put(name, { text });
      expect(status).toBe(400);
      return body.error!.message;
    };
    expect(await refused('planner', 'Split {goal}.')).toContain('{goal} is not known');
    expect(await refused('gap', 'Is {input} answered?')).toContain('needs the placeholder {final_response}');
    expect(await refused('expert', '  ')).toContain('roll the prompt back');
    expect(await refused('expert', 'x'.repeat(20_001))).toContain('at most 20000');
    expect(await refused('expert', 7)).toContain('text');
    expect((await offered()).prompts).toEqual({});
    expect(changes()).toEqual([]);
  });

  it('are rolled back in one call: to the text before, to any kept version, to the shipped one', async () => {
    for (const text of ['one', 'two', 'three']) await put('expert', { text });
    expect((await back('expert')).body).toMatchObject({ text: 'two', version: 4 });
    expect((await back('expert', { version: 1 })).body).toMatchObject({ text: 'one', version: 5 });
    const shipped = await back('expert', { version: 0 });
    expect(shipped.body).toMatchObject({ text: null, overridden: false, version: 6 });
    expect(PromptView.parse(shipped.body).versions.map(({ version, shipped: s }) => [version, s])).toEqual([
      [6, true],
      [5, false],
      [4, false],
      [3, false],
      [2, false],
      [1, false],
    ]);
    expect((await offered()).prompts).toEqual({});
    expect((await back('expert')).body).toMatchObject({ text: 'one', version: 7 });
    expect(await back('expert', { version: 40 })).toMatchObject({ status: 404, body: { error: { code: 'SETTING_VERSION_NOT_FOUND' } } });
    expect(changes().map(({ data }) => data.version)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('that were never changed roll back to themselves, and the first change to the shipped text', async () => {
    expect((await back('expert')).body).toMatchObject({ text: null, version: 0 });
    await put('expert', { text: 'mine' });
    expect((await back('expert')).body).toMatchObject({ text: null, version: 2 });
  });

  it('are not overwritten from an older version, and a repeat changes nothing', async () => {
    await put('expert', { text: 'one', version: 0 });
    expect(await put('expert', { text: 'other', version: 0 })).toMatchObject({ status: 409, body: { error: { code: 'SETTING_CHANGED' } } });
    expect((await put('expert', { text: 'one', version: 0 })).body).toMatchObject({ version: 1 });
    expect(new Set(changes().map(({ id }) => id)).size).toBe(1);
  });

  it('whose audit event was lost are audited by the repeat', async () => {
    world.publishFails = true;
    expect((await put('expert', { text: 'one' })).status).toBe(500);
    world.publishFails = false;
    expect((await put('expert', { text: 'one' })).body).toMatchObject({ version: 1 });
    expect(changes()).toMatchObject([{ data: { before: null, after: { text: 'one' }, version: 1 } }]);
  });

  it('are for the admin only', async () => {
    expect((await call('PUT', '/expert', { text: 'x' }, { 'x-api-key': 'sk-any' })).status).toBe(403);
    expect((await call('GET', '', undefined, { 'x-api-key': 'sk-any' })).status).toBe(403);
  });
});

describe('the offers of the settings', () => {
  it('leave out invalid entries, warn once, and read tools', async () => {
    const { settings } = world.stores.state;
    const said: unknown[] = [];
    const read = settingOffers(world.stores.state, { warn: (_line, fields) => void said.push(fields) });
    await settings.write('prompts/gap', 0, { text: 'no placeholders' });
    await settings.write('prompts/unheard-of', 0, { text: 'x' });
    await settings.write('prompts/expert', 0, 'nonsense');
    await settings.write('offers/tools', 0, { tools: [{ name: 'a.b', description: 'c', signature: 'd' }] });
    for (let again = 0; again < 2; again += 1)
      expect(await read()).toEqual({
        prompts: {},
        collections: [],
        tenantCollections: true,
        options: {},
        tools: [{ name: 'a.b', description: 'c', signature: 'd' }],
      });
    expect(said).toMatchObject([{ prompt: 'gap' }]);
    await settings.write('offers/tools', 1, { tools: 'nonsense' });
    expect((await read()).tools).toEqual([]);
  });
});
