import { describe, expect, it } from '@jest/globals';
import { ask, CommitteeScript, type System, expert, plainTemplate, readRun, runEvents, user } from '@conclave/test-support/system';

/** A template with a vision expert, and one without. */
export const attachmentTemplates = {
  sees: {
    ...plainTemplate,
    strategy: 'single-pass',
    complexity: 'auto',
    caches: { answer: true, semantic: true, plan: true },
    experts: { general: { t1: ['scripted@fake'] }, vision: { t1: ['other@fake'] } },
  },
  blind: { ...plainTemplate, strategy: 'single-pass', complexity: 'auto', experts: { general: { t1: ['scripted@fake'] } } },
} as const;

/** One red dot, followed by enough bytes that it is stored by reference. */
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const image = `data:image/png;base64,${Buffer.concat([Buffer.from(dot, 'base64'), Buffer.alloc(100_000, 5)]).toString('base64')}`;
const imagePart = { type: 'image_url', image_url: { url: image } };
const filePart = (text: string) => ({
  type: 'file',
  file: {
    filename: 'note.html',
    file_data: `data:text/html;base64,${Buffer.from(`<html><body><script>alert(1)</script><h1>Note</h1><p>${text}</p></body></html>`).toString('base64')}`,
  },
});

/** The path of an attachment, from the request to the model that looks at it. */
export function attachmentScenarios(system: () => System): void {
  const asks = (model: string, question: string, ...parts: readonly object[]) =>
    ask(system().url(), { model, messages: [{ role: 'user', content: [{ type: 'text', text: question }, ...parts] }] });

  describe('documents that a front end quotes in a question', () => {
    it('are facts under the numbers of the front end, and the question is what is asked about them', async () => {
      const s = new CommitteeScript(system().models, 'How many days of leave, and what is the allowance (quoted)?')
        .plan([expert('x1', 'Say the days.'), expert('x2', 'Say the allowance.')])
        .expert('28 days.', { task: 'Say the days.' })
        .expert('58 EUR.', { task: 'Say the allowance.' })
        .answer(['28 days [1]. It is 58 EUR, not 70 [2].']);
      const rules = '### Task:\nAnswer from the context; cite as [id] if the <source> tag has an id (e.g., <source id="1">).';
      const quoted = `${rules}\n\n<context>\n<source id="1" name="leave.md">Employees get 28 days.</source>\n<source id="2" name="travel.md">The allowance is 58 EUR.</source>\n\n</context>\n\n${s.question}`;
      const { status, headers, body } = await ask(system().url(), {
        model: 'sees',
        messages: [{ role: 'user', content: quoted }],
        conclave: { complexity: 'moderate' },
      });
      const answer = '28 days [1]. It is 58 EUR, not 70 [2].\n\nNot found in the cited source:\n- [2]: 70';
      expect([status, body.choices?.[0]?.message.content, s.unused()]).toEqual([200, answer, []]);
      const shown = s.calls().map(({ messages }) => messages.map(({ content }) => String(content)).join('\n'));
      for (const prompt of shown) expect(prompt).not.toContain('<source id="1" name');
      for (const prompt of shown.slice(1))
        expect(prompt).toMatch(/\[1\] Employees get 28 days\. — leave\.md <->\n\[2\] The allowance is 58 EUR\. — travel\.md/);
      const view = await readRun(system().url(), headers.get('x-run-id')!);
      expect(view).toMatchObject({
        question: s.question,
        sources: [
          { n: 1, kind: 'request' },
          { n: 2, title: 'travel.md' },
        ],
      });

      // A trivial question is answered by one expert, which sees the same numbers.
      const one = new CommitteeScript(system().models, 'What is the allowance (quoted once)?').expertReply({
        text: 'It is 58 EUR [2], not 70 [2].',
      });
      const once = { model: 'sees', messages: user(quoted.replace(s.question, one.question)), conclave: { complexity: 'trivial' } };
      const short = await ask(system().url(), once);
      expect([short.body.choices?.[0]?.message.content, one.unused()]).toEqual([
        'It is 58 EUR [2], not 70 [2].\n\nNot found in the cited source:\n- [2]: 70',
        [],
      ]);
      expect((await readRun(system().url(), short.headers.get('x-run-id')!)).sources).toEqual([
        { kind: 'request', title: 'travel.md', url: null, n: 2 },
      ]);

      // A client that shows no numbers, as AnythingLLM, gets the list of sources in the answer.
      const unnumbered = new CommitteeScript(system().models, 'What is the allowance (unnumbered)?').expertReply({
        text: 'It is 58 EUR [1].',
      });
      const passages = 'Answer briefly.\nContext:\n[CONTEXT 0]:\nThe allowance is 58 EUR.\n[END CONTEXT 0]\n';
      const listing = await ask(system().url(), {
        model: 'sees',
        messages: [{ role: 'system', content: passages }, ...user(unnumbered.question)],
        conclave: { complexity: 'trivial' },
      });
      expect([listing.body.choices?.[0]?.message.content, unnumbered.unused()]).toEqual([
        'It is 58 EUR [1].\n\nSources:\n[1] The allowance is 58 EUR.',
        [],
      ]);

      // The same words without the documents are another question.
      const bare = new CommitteeScript(system().models, s.question)
        .plan([expert('x1', 'Say it.'), expert('x2', 'Say it again.')])
        .expert('I do not know.', { task: 'Say it.' })
        .expert('Nor do I.', { task: 'Say it again.' })
        .answer(['That is not known here.']);
      const other = await ask(system().url(), { model: 'sees', messages: user(s.question), conclave: { complexity: 'moderate' } });
      expect([other.body.choices?.[0]?.message.content, bare.unused()]).toEqual(['That is not known here.', []]);
    });
  });

  describe('documents that a front end puts elsewhere than into the question', () => {
    const prompt = 'Use the following pieces of context to answer the question. If you do not know, say so.';
    const whole = 'Answers from the documents.';
    const sent = (messages: readonly object[]) => ask(system().url(), { model: 'sees', messages, conclave: { complexity: 'trivial' } });
    const shown = (s: CommitteeScript) => s.calls().map(({ messages }) => messages.map(({ content }) => String(content)).join('\n'));

    it('are facts if they stand in its system message, which keeps its rules, and no cache answers', async () => {
      const s = new CommitteeScript(system().models, 'What is the allowance (told)?');
      const messages = [
        { role: 'system', content: `${whole} ${prompt}\n----------------\nThe allowance is 58 EUR.\n\nIt is paid in May.` },
        ...user(s.question),
      ];
      for (const again of [1, 2]) {
        s.expertReply({ text: 'It is 58 EUR, not 70 [1].' });
        const { body } = await sent(messages);
        expect([again, body.choices?.[0]?.message.content, s.unused()]).toEqual([
          again,
          'It is 58 EUR, not 70 [1].\n\nSources:\n[1] The allowance is 58 EUR.\n\nNot found in the cited source:\n- [1]: 70',
          [],
        ]);
      }
      s.expertReply({ text: '{"allowance": "58 EUR [1]"}' });
      const read = await sent(messages);
      expect([read.body.choices?.[0]?.message.content, s.unused()]).toEqual(['{"allowance": "58 EUR [1]"}', []]);
      for (const text of shown(s)) {
        expect(text).toContain(whole);
        expect(text).toMatch(/\[1\] The allowance is 58 EUR\.\n\n {2}It is paid in May\. — The allowance/);
        expect(text).not.toContain('-----');
      }
    });

    it('are still known to a follow-up, after an answer about other words', async () => {
      const s = new CommitteeScript(system().models, 'And when is it paid (earlier)?').expertReply({ text: 'In May [1].' });
      const attached = 'Attached document(s):\n```md# "travel.md"\nThe allowance is 58 EUR.\nIt is paid in May.\n\n```\nHow much is it?';
      const { body } = await sent([...user(attached), { role: 'assistant', content: '58 EUR.' }, ...user(s.question)]);
      expect([body.choices?.[0]?.message.content, s.unused()]).toEqual(['In May [1].\n\nSources:\n[1] travel.md', []]);
      expect(shown(s)[0]).toContain('How much is it?\n[file: travel.md]');
      expect(shown(s)[0]).toMatch(/\[1\] The allowance is 58 EUR\.\n {2}It is paid in May\. — travel\.md <->/);
    });
  });

  describe('an image that comes with a question', () => {
    it('is seen only by the vision expert, and its bytes are in no event and no view of the run', async () => {
      const s = new CommitteeScript(system().models, 'What does this show (image)?')
        .plan([expert('x1', 'Say it.')])
        .expertReply({ text: 'A red dot.\nFINDING: It shows a red dot.\nCONFIDENCE: 0.9' }, 'committee: vision')
        .expertReply({ text: 'It is a dot.\nFINDING: A dot.\nCONFIDENCE: 0.9' }, 'committee: general')
        .answer(['It shows a red dot.']);
      const { status, headers, body } = await asks('sees', s.question, imagePart, filePart('The dot was painted in Arles.'));
      expect([status, body.choices?.[0]?.message.content]).toEqual([200, 'It shows a red dot.']);

      const vision = s.calls('expert').filter(({ model }) => model === 'other');
      expect(vision).toHaveLength(1);
      expect(vision[0]!.messages.at(-1)!.content).toEqual([
        { type: 'text', text: expect.stringContaining('The dot was painted in Arles.') },
        { type: 'image_url', image_url: { url: image } },
      ]);
      const others = s.calls().filter(({ model }) => model !== 'other');
      expect(others.map(({ messages }) => messages.every(({ content }) => typeof content === 'string'))).toEqual([true, true, true]);
      const general = JSON.stringify(s.calls('expert').find(({ model }) => model === 'scripted')!.messages);
      expect(general).toContain('The dot was painted in Arles.');
      expect(general).toContain('It shows a red dot.');
      expect(general).not.toContain('alert(1)');
      expect(s.unused()).toEqual([]);

      const runId = headers.get('x-run-id')!;
      const told = JSON.stringify([await readRun(system().url(), runId), await runEvents(system().url(), runId)]);
      expect(told).not.toContain(image.slice(60, 120));
      expect(told).toContain('expert.vision');
    });

    it('that its model cannot see still gets an answer, and the composer is told of the failed task', async () => {
      const s = new CommitteeScript(system().models, 'What does this show (unseen)?')
        .plan([expert('x1', 'Look.', 'vision'), expert('x2', 'Say it.')])
        .expertReply({ status: 400, body: { error: { message: 'This model takes no images.' } } }, 'committee: vision', Infinity)
        .expert('I have not seen it.', { task: 'committee: general' })
        .answer(['Nobody could look at the image.']);
      const { status, body } = await asks('sees', s.question, imagePart);
      expect([status, body.choices?.[0]?.message.content]).toEqual([200, 'Nobody could look at the image.']);
      const composed = JSON.stringify(s.calls('composer')[0]!.messages);
      expect(composed).toContain('FAILED TASKS:');
      expect(composed).toContain('- expert.vision: Look.');
    });

    it('is looked at again each time: no cache answers', async () => {
      const s = new CommitteeScript(system().models, 'What does this show (again)?')
        .planner({ text: JSON.stringify({ tasks: [expert('x1', 'Look.', 'vision')] }) }, { times: 2 })
        .expertReply({ text: 'A dot.\nFINDING: A dot.\nCONFIDENCE: 0.9' }, undefined, 2);
      for (const _ of [1, 2]) {
        const { headers, body } = await asks('sees', s.question, imagePart);
        expect([body.choices?.[0]?.message.content, headers.get('x-conclave-cache')]).toEqual(['A dot.', null]);
      }
      expect(s.calls('expert')).toHaveLength(2);
    });

    it('is refused by a template without a vision expert, with a message that says what is missing', async () => {
      const before = system().models.calls.length;
      const { status, body } = await asks('blind', 'What does this show (blind)?', imagePart);
      expect([status, (body as unknown as { error: { code: string } }).error.code]).toEqual([400, 'VISION_MISSING']);
      expect(system().models.calls.length).toBe(before);
    });

    it('reaches a directly called model unchanged', async () => {
      const question = 'What does this show (direct)?';
      system().models.add({ name: question, match: question, reply: { text: 'A dot.' } });
      const { body } = await asks('other@fake', question, imagePart);
      expect(body.choices[0]!.message.content).toBe('A dot.');
      expect(system().models.calls.at(-1)!.messages[0]!.content).toEqual([{ type: 'text', text: question }, imagePart]);
    });
  });
}
