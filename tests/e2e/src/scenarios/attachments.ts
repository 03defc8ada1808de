import { describe, expect, it } from '@jest/globals';
import { ask, CommitteeScript, type System, expert, plainTemplate, readRun, runEvents } from '@conclave/test-support/system';

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
