import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { bare, ask, open, watch } from './__fixtures__/servers.js';
import { opensThinking, opensThinkingByName } from './opened-thinking.js';

describe('a prompt template', () => {
  it.each<[string, unknown, boolean | null]>([
    ['of QwQ', "{%- if add_generation_prompt %}\n    {{- '<|im_start|>assistant\\n<think>\\n' }}\n{%- endif %}", true],
    ['of DeepSeek-R1', "{% if add_generation_prompt and not ns.is_tool %}{{'<｜Assistant｜><think>\\\\n'}}{% endif %}", true],
    [
      'of Qwen3.5',
      "{%- if add_generation_prompt %}{%- if enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- else %}{{- '<think>\\n' }}{%- endif %}{%- endif %}",
      true,
    ],
    [
      'of Qwen3',
      "{{- '<think>' }}{%- if add_generation_prompt %}{{- 'assistant\\n' }}{%- if enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}{%- endif %}",
      false,
    ],
    [
      'of DeepSeek V3.1',
      "{%- if add_generation_prompt %}{%- if not thinking %}{{'</think>'}}{%- else %}{{'<think>'}}{%- endif %}{%- endif %}",
      null,
    ],
    ['of Llama', "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant' }}{% endif %}", false],
    ['of Ollama that opens it', '{{ .Prompt }}<|im_start|>assistant\n<think>\n{{ end }}\n{{- end }}', true],
    ['of Ollama that does not', '<think>{{ .Thinking }}</think>{{ .Content }}{{ end }}<|im_start|>assistant\n', false],
    ['that is missing', undefined, null],
  ])('%s says whether replies begin in the middle of thinking', (_name, template, expected) =>
    expect(opensThinking(template)).toBe(expected),
  );
});

describe('a name', () => {
  it.each([
    'qwq',
    'Qwen/QwQ-32B',
    'deepseek-r1:8b',
    'bartowski/DeepSeek-R1-Distill-Qwen-7B-GGUF',
    'qwen/qwen3-4b-thinking-2507',
    'MiniMaxAI/MiniMax-M2',
  ])('%s stands for a model that usually does', (name) => expect(opensThinkingByName(name)).toBe(true));
  it.each(['qwen3:8b', 'qwen2.5:7b', 'llama3.2', 'gpt-oss:20b', 'deepseek-v3', 'phi-4-reasoning', 'magistral', 'm'])(
    '%s does not',
    (name) => expect(opensThinkingByName(name)).toBe(false),
  );
});

const delta = (one: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: one }] })}\n\n`;
const stop = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;
type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const stream =
  (...parts: string[]): Answer =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end([...parts, stop].join(''));
const json =
  (value: object): Answer =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** A server with these paths. */
const serve = (routes: Readonly<Record<string, Answer>>): Promise<string> =>
  bare((request, response) => {
    const route = routes[request.url!];
    if (route) route(request, response);
    else response.writeHead(404).end();
  });

/** The text that the first call to a model streams. */
async function firstStream(url: string, model: string, listFirst = false): Promise<string> {
  const models = open(url, { local: true });
  if (listFirst) await models.list();
  let seen = '';
  const reply = await models.call(ask('hello', { model: `${model}@p` }), watch({ onDelta: ({ content = '' }) => void (seen += content) }));
  expect(reply.content).toBe('Two rivers.');
  return seen;
}

const thinks = stream(delta({ content: 'First I consider.' }), delta({ content: '\n</think>\n\nTwo ' }), delta({ content: 'rivers.' }));

describe('the first reply of a model whose prompt opens its thinking', () => {
  it('shows none of it if its family is known', async () =>
    expect(await firstStream(await serve({ '/v1/chat/completions': thinks }), 'deepseek-r1:8b')).toBe('Two rivers.'));

  it("shows none of it if llama.cpp's template says so", async () => {
    const url = await serve({
      '/v1/chat/completions': thinks,
      '/v1/models': json({ data: [{ id: 'file.gguf', owned_by: 'llamacpp' }] }),
      '/props': json({ chat_template: "{% if add_generation_prompt %}{{ 'assistant\\n<think>\\n' }}{% endif %}" }),
    });
    expect(await firstStream(url, 'file.gguf', true)).toBe('Two rivers.');
  });

  it("shows none of it if Ollama's template says so", async () => {
    const url = await serve({
      '/v1/chat/completions': thinks,
      '/v1/models': json({ data: [{ id: 'mine' }] }),
      '/api/version': json({ version: '0.12.0' }),
      '/api/ps': json({ models: [] }),
      '/api/show': json({ template: '{{ .Prompt }}assistant\n<think>\n{{ end }}', model_info: {} }),
    });
    expect(await firstStream(url, 'mine', true)).toBe('Two rivers.');
  });
});

describe('the first reply of a model that only seems to be such a one', () => {
  /** What arrived before the server was allowed to end its reply. */
  async function beforeEnd(model: string, ...parts: string[]): Promise<string> {
    let finish = (): void => undefined;
    const url = await serve({
      '/v1/models': json({ data: [{ id: 'deepseek-r1-plain', owned_by: 'llamacpp' }] }),
      '/props': json({ chat_template: "{% if add_generation_prompt %}{{ 'assistant\\n' }}{% endif %}" }),
      '/v1/chat/completions': (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(parts.join(''));
        finish = () => void response.end(stop);
      },
    });
    const models = open(url, { local: true });
    await models.list();
    let seen = '';
    return new Promise((resolve, reject) => {
      const onDelta = ({ content = '' }): void => {
        seen += content;
        if (seen !== '') finish();
      };
      models.call(ask('hello', { model: `${model}@p` }), watch({ onDelta })).then(() => resolve(seen), reject);
    });
  }

  it('is not held back if the server sends its thinking beside the text', async () =>
    expect(await beforeEnd('deepseek-r1:8b', delta({ reasoning_content: 'hm' }), delta({ content: 'Two rivers.' }))).toBe('Two rivers.'));
  it('is not held back if it opens its thinking itself', async () =>
    expect(await beforeEnd('deepseek-r1:8b', delta({ content: '<think>hm</think>' }), delta({ content: 'Two rivers.' }))).toBe(
      'Two rivers.',
    ));
  it('is not held back if its template does not open any', async () =>
    expect(await beforeEnd('deepseek-r1-plain', delta({ content: 'Two rivers.' }))).toBe('Two rivers.'));
});
