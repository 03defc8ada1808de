import { describe, expect, it } from '@jest/globals';
import type { ModelInfo } from '@conclave/ports';
import { sizeByName, spreadModels } from './spread-models.js';

const model = (name: string, over: Partial<ModelInfo> = {}): ModelInfo => ({
  ...{ ref: `${name}@ollama`, model: name, provider: 'ollama', context: null, price: null, local: true, demo: false, kind: 'chat' },
  ...over,
});
const spread = (...names: readonly string[]) => spreadModels(names.map((name) => model(name)));

describe('the size of a model', () => {
  it.each([
    ['qwen3:8b', 8],
    ['llama3.3:70b-instruct-q4_K_M', 70],
    ['SmolLM2-135M-Instruct', 0.135],
    ['gemma3n:e4b', 4],
    ['mixtral:8x7b', 56],
    ['Qwen/Qwen2.5-1.5B-Instruct', 1.5],
    ['qwen3-30b-a3b', 30],
    ['mistral:latest', null],
    ['phi-4', null],
    ['gpt-oss:20b', 20],
    ['meta-llama/Llama-3.3-70B-Instruct', 70],
    ['gpt-4o', null],
  ])('is read from its name: %s', (name, size) => {
    expect(sizeByName(name)).toBe(size);
  });
});

describe('several models of one machine', () => {
  it('get different roles: the largest judges and is the second tier, code and images have their own models, the smallest stays free', () => {
    expect(spread('qwen2.5-coder:7b', 'llama3.1:8b', 'qwen3:0.6b', 'llava:13b', 'gemma3:27b')).toEqual({
      judge: 'gemma3:27b@ollama',
      experts: ['llama3.1:8b@ollama'],
      secondTier: ['gemma3:27b@ollama'],
      code: ['qwen2.5-coder:7b@ollama'],
      vision: ['llava:13b@ollama'],
    });
  });

  it('are sorted by what the server reports before their names', () => {
    const models = [
      model('big'),
      model('tiny', { parameters: 0.5 }),
      model('middle', { parameters: 8, sees: true }),
      model('huge', { parameters: 70 }),
    ];
    expect(spreadModels(models)).toMatchObject({
      judge: 'huge@ollama',
      vision: ['middle@ollama'],
      experts: ['middle@ollama', 'tiny@ollama', 'big@ollama'],
    });
  });

  it('keep the order of the list if no size is known, and are spread the same way every time', () => {
    const roles = spread('alpha', 'beta', 'gamma');
    expect(roles).toEqual({
      judge: 'alpha@ollama',
      experts: ['beta@ollama', 'gamma@ollama'],
      secondTier: ['alpha@ollama'],
      code: ['beta@ollama', 'gamma@ollama'],
      vision: ['beta@ollama', 'gamma@ollama'],
    });
    expect(spread('alpha', 'beta', 'gamma')).toEqual(roles);
  });

  it('are at least two: a single model gets every role, two share them', () => {
    expect(spread('qwen3:8b')).toBeNull();
    expect(spread('qwen3:8b', 'qwen3:32b')).toMatchObject({
      judge: 'qwen3:32b@ollama',
      experts: ['qwen3:8b@ollama'],
      secondTier: ['qwen3:32b@ollama'],
    });
    expect(spread('qwen2.5-coder:7b', 'qwen2.5-coder:32b')).toMatchObject({
      judge: 'qwen2.5-coder:32b@ollama',
      experts: ['qwen2.5-coder:7b@ollama'],
    });
  });
});
