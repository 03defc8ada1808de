import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type SettingChanged, TemplateCheck, TemplateList, TemplateView } from '@conclave/contracts';
import { byAdmin, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open({ template: { strategy: 'reasoning', options: {} } });
});
afterEach(() => world.close());

const call = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${world.url}/v1/admin/templates${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...byAdmin },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as { error?: { code: string; message: string } } };
};
const view = async () => TemplateView.parse((await call('GET', '/conclave')).body);
const put = (options: unknown, version?: number, settings?: unknown) => call('PUT', '/conclave', { options, version, settings });
const check = async (body: unknown) => TemplateCheck.parse((await call('POST', '/conclave/check', body)).body);
const changes = () => world.events<SettingChanged>('audit');

describe('templates over HTTP', () => {
  it('are listed, and shown with the schema of their options', async () => {
    expect(TemplateList.parse((await call('GET', '')).body).data).toMatchObject([
      { id: 'conclave', strategy: 'reasoning', hash: '0123456789abcdef', overridden: false, version: 0 },
    ]);
    const shown = await view();
    expect(shown).toMatchObject({ changed: null, version: 0, versions: [], resolved: { id: 'conclave', task_timeout_s: 60 } });
    expect(Object.keys(shown.schema['properties'] as object)).toContain('max_iterations');
    expect(await call('GET', '/nothing')).toMatchObject({ status: 404, body: { error: { code: 'model_not_found' } } });
  });

  it('keep every version with its options, its time and its author, and the audit says the same', async () => {
    await put({ max_iterations: 7 });
    await put({ max_iterations: 9 }, 1);
    const { versions, version, changed } = await view();
    expect([version, changed]).toEqual([2, { max_iterations: 9 }]);
    expect(versions).toMatchObject([
      { version: 2, actor: 'ada', options: { max_iterations: 9 }, at: expect.any(Number) },
      { version: 1, actor: 'ada', options: { max_iterations: 7 } },
    ]);
    expect(changes()[1]!.data).toMatchObject({
      actor: 'ada',
      before: { strategy: 'reasoning', options: { max_iterations: 7 } },
      after: { strategy: 'reasoning', options: { max_iterations: 9 } },
    });
    expect(JSON.stringify(changes()[1]!.data.after)).not.toContain('actor');
    expect(await put({ max_iterations: 1 }, 1)).toMatchObject({ status: 409, body: { error: { code: 'SETTING_CHANGED' } } });
  });

  it('go back one version, to any kept version, and to the file', async () => {
    for (const steps of [5, 6, 7]) await put({ max_iterations: steps });
    const back = async (body: object) => TemplateView.parse((await call('POST', '/conclave/rollback', body)).body);
    expect(await back({})).toMatchObject({ changed: { max_iterations: 6 }, version: 4 });
    expect(await back({ version: 1 })).toMatchObject({ changed: { max_iterations: 5 }, version: 5 });
    expect(await back({ version: 0 })).toMatchObject({ changed: null, version: 6 });
    expect(await call('POST', '/conclave/rollback', { version: 77 })).toMatchObject({
      status: 404,
      body: { error: { code: 'SETTING_VERSION_NOT_FOUND' } },
    });
  });

  it('are checked as an object or as YAML, with the line of each fault, without changing anything', async () => {
    expect(await check({ options: { max_iterations: 7 } })).toMatchObject({ valid: true, faults: [], changed: { max_iterations: 7 } });
    expect(await check({ yaml: 'options:\n  max_iterations: 7\n' })).toMatchObject({ valid: true, changed: { max_iterations: 7 } });
    expect(await check({ yaml: '' })).toMatchObject({ valid: true, changed: {} });
    const wrong = await check({ yaml: '# steps\noptions:\n  max_iterations: many\nlimits:\n  tokens: 5\nmax_iterations: 7\n' });
    expect(wrong.valid).toBe(false);
    expect(wrong.faults.map(({ path, line }) => [path, line])).toEqual([
      ['limits.tokens', 5],
      ['max_iterations', 6],
      ['options.max_iterations', 3],
    ]);
    expect((await check({ yaml: 'a: [1,' })).faults[0]).toMatchObject({ path: '', line: 1 });
    expect(await check({ yaml: '- a' })).toMatchObject({ valid: false, changed: null });
    expect(await check({ options: { no_such_option: 1 } })).toMatchObject({ valid: false });
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x,x]',
      ...'bcdefg'.split('').map((name, n) => `${name}: &${name} [${Array(10).fill(`*${'abcdefg'[n]}`).join(',')}]`),
    ];
    expect(await check({ yaml: bomb.join('\n') })).toMatchObject({ valid: false, changed: null });
    expect(await check({ yaml: 'options: 3\n' })).toMatchObject({ valid: false, faults: [{ path: 'options', line: 1 }] });
    expect((await call('POST', '/conclave/check', {})).status).toBe(400);
    expect([(await view()).version, changes()]).toEqual([0, []]);
  });

  it('accept models, limits and rounds beside the options, keep them in every version, and go back to them', async () => {
    const settings = { max_agentic_rounds: 2, limits: { cost: 0.5, tokens: 9_000 }, judge: { models: ['m@fake'] } };
    const saved = TemplateView.parse((await put({ max_iterations: 7 }, 0, settings)).body);
    expect(saved).toMatchObject({
      changed: { max_iterations: 7 },
      settings,
      version: 1,
      versions: [{ options: { max_iterations: 7 }, settings }],
    });
    expect(Object.keys(saved.settingsSchema['properties'] as object)).toEqual(expect.arrayContaining(['limits', 'judge', 'experts']));
    expect(changes()[0]!.data.after).toEqual({ strategy: 'reasoning', options: { max_iterations: 7 }, settings });
    expect(TemplateList.parse((await call('GET', '')).body).data[0]).toMatchObject({ overridden: true });
    // A client that sends only options leaves the rest unchanged.
    await put({});
    expect(await view()).toMatchObject({ changed: null, settings, version: 2 });
    await put({}, 2, {});
    expect(await view()).toMatchObject({ changed: null, settings: {}, version: 3 });
    const back = await call('POST', '/conclave/rollback', { version: 1 });
    expect(TemplateView.parse(back.body)).toMatchObject({ changed: { max_iterations: 7 }, settings, version: 4 });
    expect(TemplateView.parse((await call('POST', '/conclave/rollback', { version: 0 })).body)).toMatchObject({ settings: {}, version: 5 });
  });

  it('refuse invalid settings and missing models without changing anything', async () => {
    for (const settings of [
      { limits: { cost: -1 } },
      { judge: { models: [] } },
      { judge: { model: 'm' } },
      { strategy: 'waves' },
      { experts: { general: { prompt: 'x' } } },
    ])
      expect([settings, (await put({}, 0, settings)).status]).toEqual([settings, 400]);
    const missing = await put({}, 0, { judge: { models: ['nobody@fake'] } });
    expect(missing).toMatchObject({ status: 400, body: { error: { param: 'settings.judge.models.0' } } });
    expect(missing.body.error!.message).toContain('fake has no model nobody.');
    expect(await check({ yaml: 'judge:\n  models: [m@fake, nobody@fake]\n' })).toMatchObject({
      valid: false,
      faults: [{ path: 'judge.models.1', line: 2, message: expect.stringContaining('nobody') }],
      settings: { judge: { models: ['m@fake', 'nobody@fake'] } },
    });
    const tier = (ref: string) => ({ llm_tier: 'light', tiers: { light: [ref] } });
    expect((await check({ options: tier('m@fake') })).faults).toEqual([]);
    expect((await check({ options: tier('nobody@fake') })).faults).toMatchObject([
      { path: 'options', message: expect.stringContaining('fake has no model nobody.') },
    ]);
    expect([(await view()).version, changes()]).toEqual([0, []]);
  });
});
