import { describe, expect, it } from '@jest/globals';
import { until, type ScriptedRequest } from '@conclave/test-support';
import {
  allMetrics,
  ask,
  ChatStream,
  CommitteeScript,
  type System,
  expert,
  latch,
  readRun,
  research,
  runEvents,
  sumOf,
  type TwoHops,
  user,
} from '@conclave/test-support/system';

/** The main job: plan, round, gap, re-plan, answer; and every shorter way through it. */
export function loopScenarios(system: () => System, hops: TwoHops): void {
  const script = (label: string): CommitteeScript => new CommitteeScript(system().models, `${hops.question} (${label})`);
  const firstRound = [research('r1', `${hops.thing} founded`), expert('x1', 'Who founded it?')];
  const secondRound = [research('r2', `${hops.person} born`)];
  const gapText = `birthplace of ${hops.person}`;

  describe('a question whose second search depends on the first', () => {
    it('streams plan, tasks, gap and re-plan as reasoning, then the answer token by token with sources and exact usage', async () => {
      const planning = latch();
      const [writing, ending] = [latch(), latch()];
      const s = script('streamed')
        .plan(firstRound, { when: planning.opened })
        .expert(`It was founded by ${hops.person}.`)
        .gap(gapText, `Where was ${hops.person} born?`)
        .plan(secondRound, { iteration: 1 })
        .complete()
        .answer([
          `${hops.person} was born `,
          { text: `in the town of ${hops.place} [1]`, when: writing.opened },
          { text: '.', when: ending.opened },
        ]);
      const chat = await ChatStream.open(system().url(), {
        model: 'conclave',
        messages: user(s.question),
        stream_options: { include_usage: true },
      });
      expect(chat.sse.response.status).toBe(200);
      await chat.sse.event('the first event', () => true);
      expect(chat.chunks[0]!.choices[0]!.delta).toEqual({ role: 'assistant', content: '' });
      expect(s.calls('composer')).toHaveLength(0);
      planning.open();

      await chat.shows('was born');
      writing.open();
      await chat.shows(`the town of ${hops.place}`);
      expect(chat.sse.ended).toBeNull();
      ending.open();
      await chat.end();

      const reasoning = chat.reasoning;
      const order = [
        '📋 Plan: 2 tasks',
        'r1 · search',
        'x1 · general expert',
        '🔎 More is needed',
        gapText,
        '🔄 Agentic Loop — Iteration 1/3',
        '📋 Plan: 1 task',
        '🔎 Complete',
        '🔀 Writing the answer',
      ];
      const places = order.map((text) => reasoning.indexOf(text));
      expect(places.filter((at) => at < 0)).toEqual([]);
      expect([...places]).toEqual([...places].sort((a, b) => a - b));
      expect(chat.content).toContain(`${hops.person} was born in the town of ${hops.place} [1].`);
      expect(chat.content).toMatch(/Sources:\n\[1\] /);
      expect(chat.pieces.length).toBeGreaterThanOrEqual(3);

      const chunks = chat.chunks;
      const usage = chunks.at(-1)!;
      const last = chunks.at(-2)!;
      expect(last.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
      expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason)).toHaveLength(1);
      expect(last.conclave).toMatchObject({ outcome: 'completed', rule: 'D3', rounds: 2, calls: 6, run_id: chat.runId });
      expect(usage.choices).toEqual([]);
      expect(usage.usage).toMatchObject(CommitteeScript.tokens(['planner', 'expert', 'assessor', 'planner', 'assessor', 'composer']));
      expect(chat.sse.events.at(-1)!.data).toBe('[DONE]');
      expect(chat.sse.events.filter((event) => event.id !== null || event.name !== null)).toEqual([]);
      expect(s.calls()).toHaveLength(6);
      expect(s.unused()).toEqual([]);

      const entries = await runEvents(system().url(), chat.runId);
      expect(entries.map((entry) => entry.id)).toEqual(entries.map((_, index) => index + 1));
      expect(entries.filter((entry) => entry.kind === 'run.completed')).toHaveLength(1);
      const run = await readRun(system().url(), chat.runId);
      expect(run.usage.total).toMatchObject({ calls: 6, prompt: usage.usage!.prompt_tokens, completion: usage.usage!.completion_tokens });
      expect(run.history.map((entry) => entry.gap)).toEqual([gapText, '']);
    });

    it('passes the block of a re-plan to the planner of the second round, and the facts of both rounds to the composer', async () => {
      const s = script('prompts')
        .plan(firstRound)
        .expert(`It was founded by ${hops.person}.`)
        .gap(gapText, `Where was ${hops.person} born?`)
        .plan(secondRound, { iteration: 1 })
        .complete()
        .answer([`${hops.place}.`]);
      const answered = await ask(system().url(), { model: 'conclave', messages: user(s.question) });
      expect(answered.status).toBe(200);
      const prompt = String(s.calls('planner')[1]!.messages[0]!.content);
      expect(prompt.startsWith('=== AGENTIC ITERATION 1/3 ===\nPreviously established facts:\n')).toBe(true);
      for (const text of ['Still unresolved:', gapText, 'Focus ONLY on resolving the gap above.', `${hops.thing} founded`])
        expect(prompt).toContain(text);
      const facts = String(s.calls('composer')[0]!.messages.at(-1)!.content);
      expect(facts).toContain(`founded by ${hops.person}`);
      expect(facts).toContain(`born in the town of ${hops.place}`);
      expect(s.calls()).toHaveLength(6);
    });

    it('answers without a stream with the same usage, sources and facts about the run', async () => {
      const s = script('whole')
        .plan([research('r1', `${hops.thing} founded`)])
        .gap(gapText, `Where was ${hops.person} born?`)
        .plan(secondRound, { iteration: 1 })
        .complete()
        .answer([`It was ${hops.place} [1].`]);
      const { status, headers, body } = await ask(system().url(), { model: 'conclave', messages: user(s.question) });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        object: 'chat.completion',
        model: 'conclave',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', refusal: null } }],
      });
      expect(body.choices[0]!.message.content).toMatch(new RegExp(`^It was ${hops.place} \\[1\\]\\.\\n\\nSources:\\n\\[1\\] `));
      expect(body.choices[0]!.message.reasoning_content).toBeUndefined();
      expect(body.usage).toMatchObject(CommitteeScript.tokens(['planner', 'assessor', 'planner', 'assessor', 'composer']));
      expect(headers.get('x-conclave-rounds')).toBe('2');
      expect(headers.get('x-run-id')).toBe(body.conclave!.run_id);
      expect(s.calls()).toHaveLength(5);
    });
  });

  describe('a second round that corrects the first', () => {
    it('never presents the finding or the gaps of the first round as current', async () => {
      const s = script('corrected')
        .plan([expert('x1', 'When was it founded?')])
        .expertReply({ text: 'In 1931.\nFINDING: It was founded in 1931.\nCONFIDENCE: 0.4\nGAPS: the charter; the day' }, undefined, 1)
        .gap('the charter', 'Find the charter.')
        .plan([research('r1', `${hops.thing} founded`), { ...expert('x1', 'Settle the year'), redoes: 'x1' }], { iteration: 1 })
        .expertReply({ text: 'In 1932.\nFINDING: It was founded in 1932.\nCONFIDENCE: 0.9' }, 'Settle the year')
        .complete()
        .answer(['In 1932.']);
      const { status, body } = await ask(system().url(), { model: 'conclave', messages: user(s.question) });
      expect(status).toBe(200);
      const text = (call: { readonly messages: readonly { readonly content: unknown }[] }): string =>
        call.messages.map(({ content }) => String(content)).join('\n');
      const [first, second] = s.calls('assessor').map(text);
      expect(first).toContain('confidence 0.4; GAPS: the charter; the day');
      expect(text(s.calls('planner')[1]!)).toContain('When was it founded? GAPS: the charter; the day');
      for (const prompt of [second!, text(s.calls('composer')[0]!)]) {
        expect(prompt).toContain('1932');
        expect(prompt).not.toContain('1931');
      }
      const { rounds } = await readRun(system().url(), body.conclave!.run_id);
      expect(rounds[0]!.tasks[0]).toMatchObject({ capability: 'expert.general', superseded: true });
    });
  });

  describe('the reply of the gap check', () => {
    it.each([
      ['numbers', (gap: string) => `1. COMPLETION_STATUS: NEEDS_MORE_INFO\n2. GAP: ${gap}\n3. NEXT_FOCUS: find it`],
      ['one line', (gap: string) => `COMPLETION_STATUS: INCOMPLETE GAP: ${gap} NEXT_FOCUS: find it`],
      ['JSON', (gap: string) => JSON.stringify({ completion_status: 'needs-more-info', gap, next_focus: 'find it' })],
    ])('continues in the form of %s', async (form, reply) => {
      const s = script(`gap as ${form}`)
        .plan(firstRound)
        .expert(`It was founded by ${hops.person}.`)
        .assessor({ text: reply(gapText) })
        .plan(secondRound, { iteration: 1 })
        .complete()
        .answer([`${hops.place}.`]);
      const { body } = await ask(system().url(), { model: 'conclave', messages: user(s.question) });
      expect(body.conclave).toMatchObject({ outcome: 'completed', rule: 'D3', rounds: 2 });
    });

    it('that is invalid ends the loop, never counts as an assessment, and its answer is not cached for others', async () => {
      const s = script('unreadable check');
      const round = (): unknown =>
        s
          .plan(firstRound)
          .expert(`It was founded by ${hops.person}.`)
          .assessor({ text: 'COMPLETION_STATUS: COMPLETE | NEEDS_MORE_INFO\nGAP: none\nNEXT_FOCUS: none' })
          .answer([`By ${hops.person}.`]);
      const before = sumOf(await allMetrics(system()), 'conclave_unassessed_runs_total');
      for (const n of [1, 2]) {
        round();
        const { body } = await ask(system().url(), { model: 'conclave', messages: user(s.question) });
        const run = await readRun(system().url(), body.conclave!.run_id);
        expect(run).toMatchObject({ outcome: 'completed', rule: 'D3', reasonCode: 'assessment_unreadable', assessed: false });
        expect(run.reason).not.toContain('sufficient');
        expect(s.calls('assessor')).toHaveLength(n);
        await until('the run is counted', async () => sumOf(await allMetrics(system()), 'conclave_unassessed_runs_total') >= before + n);
      }
    });
  });

  it('holds the draft back when the gap check reads the answer, and sends the accepted one whole', async () => {
    const s = script('answer mode')
      .plan(firstRound)
      .expert(`It was founded by ${hops.person}.`)
      .answer(['A first draft that nobody may see.'])
      .gap(gapText, `Where was ${hops.person} born?`)
      .plan(secondRound, { iteration: 1 })
      .answer([`The town of ${hops.place}`, ' it was.'])
      .complete();
    const chat = await (
      await ChatStream.open(system().url(), {
        model: 'checks-answers',
        messages: user(s.question),
        stream_options: { include_usage: true },
      })
    ).end();
    expect(chat.content.trim()).toBe(`The town of ${hops.place} it was.`);
    expect(chat.chunks.at(-1)!.usage).toMatchObject(
      CommitteeScript.tokens(['planner', 'expert', 'composer', 'assessor', 'planner', 'composer', 'assessor']),
    );
    expect(s.calls().map((call) => call.step!.split(' · ')[1])).toEqual([
      'planner',
      'expert',
      'composer',
      'assessor',
      'planner',
      'composer',
      'assessor',
    ]);
    expect(String(s.calls('assessor')[0]!.messages.at(-1)!.content)).toContain('A first draft that nobody may see.');
  });

  it.each([
    [
      'one re-plan by body',
      { conclave: { rounds: 1 } },
      undefined,
      1,
      ['planner', 'expert', 'assessor', 'planner', 'composer'],
      'limit_reached',
      'D6',
    ],
    ['no re-plan by header', {}, { 'x-conclave-rounds': '0' }, 0, ['planner', 'expert', 'composer'], 'completed', 'D6'],
    ['no re-plan by effort', { reasoning_effort: 'minimal' }, undefined, 0, ['planner', 'expert', 'composer'], 'completed', 'D6'],
    [
      'as many as the template has when more are asked for',
      { conclave: { rounds: 9 } },
      undefined,
      3,
      ['planner', 'expert', 'assessor', 'composer'],
      'completed',
      'D3',
    ],
  ] as const)('takes %s', async (label, wish, headers, max, roles, outcome, rule) => {
    const s = script(label).plan(firstRound).expert(`It was founded by ${hops.person}.`);
    if (roles.includes('assessor' as never)) {
      if (max === 1) s.gap(gapText, 'Where?').plan(secondRound, { iteration: 1 });
      else s.complete();
    }
    s.answer([`The founder was ${hops.person}.`]);
    const { status, body } = await ask(system().url(), { model: 'conclave', messages: user(s.question), ...wish }, headers);
    expect(status).toBe(200);
    expect(body.conclave).toMatchObject({ outcome, rule, calls: roles.length });
    expect(s.calls().map((call) => call.step!.split(' · ')[1])).toEqual(roles);
    expect((await readRun(system().url(), body.conclave!.run_id)).rounds).toHaveLength(max === 1 ? 2 : 1);
  });

  it('runs conclave-fast in one pass, also under its alias, and names the requested model', async () => {
    const s = script('fast')
      .plan([expert('x1', 'Who founded it?')])
      .expert(`It was ${hops.person}.`)
      .answer([`By ${hops.person}.`]);
    const { body } = await ask(system().url(), { model: 'gpt-4o', messages: user(s.question) });
    expect(body.model).toBe('gpt-4o');
    expect(body.conclave).toMatchObject({ outcome: 'completed', rounds: 1, calls: 3 });
    expect((await readRun(system().url(), body.conclave!.run_id)).template.id).toBe('conclave-fast');
    expect(s.calls()).toHaveLength(3);
  });

  it('passes model@provider through to the one model, streamed and whole, with the parameters and nothing else', async () => {
    const question = `Straight through (${hops.thing})`;
    const more = latch();
    const direct = (request: ScriptedRequest): boolean => request.messages.length === 1 && request.messages[0]!.content === question;
    system().models.add(
      { name: 'direct whole', match: direct, reply: { text: 'whole', usage: { prompt_tokens: 7, completion_tokens: 2 } } },
      {
        name: 'direct streamed',
        match: direct,
        reply: { chunks: [{ text: 'str' }, { text: 'eamed', when: more.opened }], usage: { prompt_tokens: 7, completion_tokens: 3 } },
      },
    );
    const before = system().models.calls.length;
    const { body } = await ask(system().url(), { model: 'scripted@fake', messages: user(question), temperature: 0.3 });
    expect(body).toMatchObject({
      model: 'scripted@fake',
      choices: [{ message: { content: 'whole' }, finish_reason: 'stop' }],
      usage: { total_tokens: 9 },
    });
    const chat = await ChatStream.open(system().url(), {
      model: 'scripted@fake',
      messages: user(question),
      stream_options: { include_usage: true },
    });
    await chat.shows('str');
    more.open();
    await chat.end();
    expect(chat.content).toBe('streamed');
    expect(chat.chunks.at(-1)!.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
    expect(system().models.calls[before]!.body['temperature']).toBe(0.3);
    expect(system().models.calls.length - before).toBe(2);
  });

  it.each([
    ['think', /^<think>\n[\s\S]*📋 Plan: 1 task[\s\S]*<\/think>\n\nDone\.$/, ''],
    ['none', /^Done\.$/, ''],
    ['status', /^Done\.$/, '📋 Plan: 1 task'],
  ] as const)('shows progress as %s when the request asks for it', async (mode, content, status) => {
    const s = script(`progress ${mode}`)
      .plan([expert('x1', 'Do it.')])
      .expert('Done.')
      .answer(['Done.']);
    const chat = await (
      await ChatStream.open(system().url(), { model: 'conclave-fast', messages: user(s.question), conclave: { progress: mode } })
    ).end();
    expect(chat.content).toMatch(content);
    expect(chat.reasoning).toBe('');
    expect(chat.chunks.map((chunk) => chunk.event?.data.description ?? '').join('\n')).toContain(status);
  });

  it('keeps a silent stream alive with comment lines', async () => {
    const gate = latch();
    const s = script('heartbeat')
      .plan([expert('x1', 'Do it.')], { when: gate.opened })
      .expert('Done.')
      .answer(['Done.']);
    const chat = await ChatStream.open(system().url(), { model: 'conclave-fast', messages: user(s.question) });
    await chat.sse.event('a heartbeat', ({ comment }) => comment !== null, 5_000);
    gate.open();
    await chat.end();
    expect(chat.content).toBe('Done.');
  });
}
