import { expect, it } from '@jest/globals';
import { ask, System, plainTemplate, readRun, roleOf } from '@conclave/test-support/system';
import { decide } from './confusion.js';
import { labelledPrompts, type LabelledPrompt } from './prompts/labelled-prompt.js';

/** Runs at the same time. */
const lanes = 8;

type Asked = Pick<LabelledPrompt, 'text' | 'hasHistory' | 'hasAttachments'>;
const note = Buffer.from('The harbour is busy in summer.').toString('base64');
const turnsOf = ({ text, hasHistory, hasAttachments }: Asked) => [
  ...(hasHistory
    ? [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hello.' },
      ]
    : []),
  {
    role: 'user',
    content: hasAttachments
      ? [
          { type: 'text', text },
          { type: 'file', file: { filename: 'note.txt', file_data: `data:text/plain;base64,${note}` } },
        ]
      : text,
  },
];

/** One expert who is sure: two calls a run, or one for a trivial prompt. */
const plan = JSON.stringify({ tasks: [{ id: 'x1', task: 'Answer it.', capability: 'expert.general' }] });
const sure = 'It depends.\nFINDING: It depends.\nCONFIDENCE: 0.9\nGAPS: none\nREFER: none';

/** The level that the built program decides for each prompt, asked over HTTP. */
async function shippedLevels(prompts: readonly Asked[]): Promise<readonly (string | null)[]> {
  const system = await System.start({
    mode: 'embedded',
    configuration: {
      templates: { levelled: { ...plainTemplate, strategy: 'single-pass', complexity: 'auto', capabilities: [] } },
      gateway: { max_open_runs: lanes },
    },
  });
  system.models.add({
    name: 'any call',
    match: () => true,
    reply: (request) => ({ text: roleOf(request) === 'planner' ? plan : sure }),
    times: Infinity,
  });
  try {
    const levels: (string | null)[] = [];
    const waiting = [...prompts.entries()];
    const lane = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [position, prompt] = next;
        const { status, headers, body } = await ask(system.url(), { model: 'levelled', messages: turnsOf(prompt) });
        if (status !== 200) throw new Error(`"${prompt.text}" was not answered: ${status} ${JSON.stringify(body.error)}`);
        levels[position] = (await readRun(system.url(), headers.get('x-run-id')!)).complexity;
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return levels;
  } finally {
    await system.stop();
  }
}

/** In addition to the labelled ones: their level depends on a character that a program could misread. */
const ofOtherAlphabets: readonly Asked[] = [
  'Is 12 × 12 the same as 144?',
  'Was ergibt 144 ÷ 12?',
  'How much is 1 000 − 1?',
  '3 × 4?',
  'Ist √2 irrational?',
  'Ist a ≤ b?',
  '∑ k = ?',
  'Was bedeutet »analysiere das«?',
  'Was heißt „Zuerst A, dann B und danach C“ auf Englisch?',
  'Who wrote “Compare and contrast”?',
].map((text) => ({ text, hasHistory: false, hasAttachments: false }));

/** The rules are the same code: building can change how their characters and assets are read, but not which prompt is decided how. */
const everySixth = labelledPrompts.filter((_, position) => position % 6 === 0);

it('the built router decides prompts of each level, and those with special characters, like its sources', async () => {
  expect(new Set(everySixth.map(({ language, level }) => `${language} ${level}`)).size).toBe(6);
  const prompts: readonly Asked[] = [...everySixth, ...ofOtherAlphabets];
  const levels = await shippedLevels(prompts);
  const wrong = prompts.flatMap((prompt, n) =>
    levels[n] === decide(prompt) ? [] : [{ text: prompt.text, shipped: levels[n], source: decide(prompt) }],
  );
  expect(wrong).toEqual([]);
}, 60_000);
