import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const program = fileURLToPath(new URL('server.mjs', import.meta.url));
const token = 'pms-token-of-the-spec-4b1d';

/** Talks to a server as a client does: all requests on its input, one answer per line. */
function speak(server, requests, env = { PMS_TOKEN: token }) {
  const lines = [{ method: 'notifications/initialized' }, ...requests.map((request, n) => ({ id: n + 1, ...request }))];
  const input = lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join('');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...server], { input, env, encoding: 'utf8', timeout: 20_000 });
  const answers = stdout.trim().split('\n').filter(Boolean);
  return { status, stdout, stderr, answers: answers.map((line) => JSON.parse(line)) };
}
const call = (name, given) => ({ method: 'tools/call', params: { name, arguments: given } });
/** What a tool returns: its result, or the text of its refusal. */
function said(server, name, given) {
  const { result } = speak([server], [call(name, given)]).answers[0];
  return result.isError ? result.content[0].text : result.structuredContent;
}

describe('the servers of the hotel', () => {
  it.each([
    ['calendar', ['resolve_holiday', 'resolve_date_hint', 'check_is_weekend']],
    ['pms', ['get_availability']],
  ])('%s lists its read-only tools', (server, names) => {
    const [opened, listed] = speak(
      [server],
      [{ method: 'initialize', params: { protocolVersion: '2025-06-18' } }, { method: 'tools/list' }],
    ).answers;
    expect(opened.result).toMatchObject({ protocolVersion: '2025-06-18', capabilities: { tools: {} } });
    expect(listed.result.tools.map(({ name }) => name)).toEqual(names);
    for (const { description, inputSchema, annotations } of listed.result.tools) {
      expect([description, inputSchema.type, annotations.readOnlyHint]).toEqual([expect.stringMatching(/\.$/), 'object', true]);
      for (const name of inputSchema.required) expect(Object.keys(inputSchema.properties)).toContain(name);
    }
  });

  it('answer an unknown method or tool with an error, and continue', () => {
    const { answers } = speak(['calendar'], [{ method: 'resources/list' }, call('toString', {}), { method: 'ping' }]);
    expect(answers).toMatchObject([{ error: { code: -32_601 } }, { error: { code: -32_602 } }, { result: {} }]);
  });

  it.each([
    [[], 'Name the server to start: calendar or pms.'],
    [['toString'], 'Name the server to start: calendar or pms.'],
    [['pms'], 'PMS_TOKEN is not set: add it under `env` of this server.'],
  ])('do not start as %j without their requirements', (server, sentence) => {
    expect(speak(server, [], {})).toMatchObject({ status: 2, stdout: '', stderr: `${sentence}\n` });
  });
});

describe('the calendar', () => {
  it('knows the evenings of a holiday in any spelling', () => {
    const hanukkah = { start_date: '2026-12-04', end_date: '2026-12-11', duration_days: 8, year: 2026, holiday_type: 'jewish' };
    expect(said('calendar', 'resolve_holiday', { holiday_name: 'Hanukkah' })).toEqual({ holiday_name: 'Hanukkah', ...hanukkah });
    expect(said('calendar', 'resolve_holiday', { holiday_name: ' hanukkah! ', year: 2026 })).toMatchObject(hanukkah);
  });

  it.each([
    ['next weekend', {}, '2025-01-17', '2025-01-19', 2, ['friday', 'saturday']],
    ['Next  Weekend', { current_date: '2025-01-17' }, '2025-01-24', '2025-01-26', 2, ['friday', 'saturday']],
    ['tonight', {}, '2025-01-13', '2025-01-14', 1, ['monday']],
    ['tomorrow', { current_date: '2024-02-28', default_nights: 2 }, '2024-02-29', '2024-03-02', 2, ['thursday', 'friday']],
    ['in 3 days', { current_date: '2026-12-30' }, '2027-01-02', '2027-01-03', 1, ['saturday']],
    ['next monday', {}, '2025-01-20', '2025-01-21', 1, ['monday']],
  ])('reads "%s" with the hints %j', (date_hint, rest, check_in, check_out, nights, days) => {
    expect(said('calendar', 'resolve_date_hint', { date_hint, ...rest })).toMatchObject({ check_in, check_out, nights, days });
  });

  it.each([
    ['2025-01-16', undefined, true],
    ['2025-01-18', undefined, true],
    ['2025-01-19', undefined, false],
    ['2025-01-19', 'western', true],
  ])('reports of %s (%s) whether it is a weekend: %s', (date, weekend_type, is_weekend) => {
    const kind = weekend_type && { weekend_type };
    expect(said('calendar', 'check_is_weekend', { date, ...kind })).toMatchObject({ is_weekend });
  });

  it.each([
    ['resolve_holiday', { holiday_name: 'Festival of Kites' }, /^HOLIDAY_UNKNOWN: .*It holds .*Hanukkah/],
    ['resolve_holiday', { holiday_name: 'Hanukkah', year: 2031 }, /^YEAR_UNKNOWN: .*2026, not of 2031/],
    ['resolve_date_hint', { date_hint: 'when it snows' }, /^HINT_UNKNOWN: .*next weekend/],
    ['resolve_date_hint', { date_hint: 'tomorrow', current_date: '2025-02-29' }, /^DATE_INVALID: `current_date`/],
    ['check_is_weekend', { date: '2026-13-01' }, /^DATE_INVALID: `date` is "2026-13-01"/],
  ])('refuses, as %s: %j', (tool, given, sentence) => {
    expect(said('calendar', tool, given)).toMatch(sentence);
  });
});

describe('the booking system', () => {
  it('counts the rooms that are free in every night of a stay', () => {
    const weekend = said('pms', 'get_availability', { check_in: '2025-01-17', check_out: '2025-01-19' });
    expect(weekend).toMatchObject({ nights: 2, adults: 2, currency: 'ILS' });
    expect(weekend.rooms.map(({ room_type, available, total }) => [room_type, available, total])).toEqual([
      ['standard', 2, 840],
      ['family', 3, 1280],
      ['suite', 0, 1960],
    ]);
    const evening = said('pms', 'get_availability', { check_in: '2026-12-04', check_out: '2026-12-05' });
    expect(evening.rooms.map(({ available }) => available)).toEqual([5, 0, 1]);
    expect(said('pms', 'get_availability', { check_in: '2025-01-20', check_out: '2025-01-21', adults: 3 }).rooms).toEqual([
      { room_type: 'family', available: 3, price_per_night: 640, total: 640 },
    ]);
  });

  it.each([
    [{ check_in: '2025-01-19', check_out: '2025-01-17' }, /^RANGE_INVALID: check_out 2025-01-17 is not after/],
    [{ check_in: '2025-01-19', check_out: '2026-01-19' }, /^RANGE_INVALID: 365 nights/],
    [{ check_in: '2026-02-30', check_out: '2026-03-02' }, /^DATE_INVALID: `check_in`/],
  ])('refuses %j', (given, sentence) => {
    expect(said('pms', 'get_availability', given)).toMatch(sentence);
  });

  it('never reveals its token', () => {
    const stays = [
      { check_in: '2025-01-17', check_out: '2025-01-19' },
      { check_in: 'PMS_TOKEN', check_out: '2025-01-17' },
    ];
    const asked = [{ method: 'tools/list' }, { method: 'PMS_TOKEN' }, ...stays.map((stay) => call('get_availability', stay))];
    const { answers, stdout, stderr } = speak(['pms'], asked);
    expect(answers).toHaveLength(asked.length);
    expect(`${stdout}${stderr}`).not.toContain(token);
  });
});
