import { describe, expect, it } from '@jest/globals';
import { estimatePrompt, type Fact, type PlanRequested, type TaskInputDraft, type TextMessage } from '@conclave/contracts';
import { plannerPrompt } from './planner-prompt.js';
import { asData } from './quoting.js';
import { anyRoom } from '../asks/ask.js';
import { synthesisAsk } from '../asks/synthesis.js';
import { expertPrompt } from './expert-prompt.js';

const turns = Array.from({ length: 40 }, (_, n): TextMessage => ({
  role: n % 2 ? 'assistant' : 'user',
  content: `turn ${n} ${'word '.repeat(100)}`,
}));
const facts = Array.from({ length: 40 }, (_, n): Fact => ({
  text: `fact ${n} ${'word '.repeat(170)}`,
  source: { kind: 'corpus', title: 'Doc', url: null },
  taskId: 't',
  epoch: 0,
  confidence: null,
}));
const synthesis = (
  changes: Partial<Extract<TaskInputDraft, { kind: 'synthesis' }>> = {},
): Extract<TaskInputDraft, { kind: 'synthesis' }> => ({
  kind: 'synthesis',
  question: 'Where?',
  conversation: turns,
  system: null,
  facts: facts.slice(0, 4),
  answers: [],
  failed: [],
  openGap: null,
  parameters: {},
  startedOn: '2026-01-02',
  ...changes,
});

const synthesisPrompt = (input: Extract<TaskInputDraft, { kind: 'synthesis' }>, tokens = anyRoom.tokens) =>
  synthesisAsk.prompt(synthesisAsk.input.parse(input), { ...anyRoom, tokens });

describe('a prompt for a small context', () => {
  it('loses the oldest turns first and stays below the bound', () => {
    const prompt = synthesisPrompt(synthesis(), 3_000);
    expect(estimatePrompt(prompt)).toBeLessThanOrEqual(3_000);
    const kept = prompt.slice(1, -1).map(({ content }) => content.slice(0, 7));
    expect(kept.at(-1)).toBe('turn 39');
    expect(kept.length).toBeGreaterThan(3);
    expect(kept).not.toContain('turn 0 ');
    expect(prompt.at(-1)!.content).toContain('[4] fact 3');
  });

  it('shortens facts that do not fit without any turn, and keeps the number of each', () => {
    const prompt = synthesisPrompt(synthesis({ facts }), 6_000);
    expect(estimatePrompt(prompt)).toBeLessThanOrEqual(6_000);
    expect(prompt.at(-1)!.content).toContain('[40] fact 39');
  });

  it('shows the whole result of a tool, which is one fact, and shortens it like others where there is no room', () => {
    const lines = Array.from({ length: 240 }, (_, n) => `line ${n}`).join('\n');
    const result: Fact = { ...facts[0]!, text: lines, source: { kind: 'tool', title: 'files.read_text_file', url: null } };
    expect(synthesisPrompt(synthesis({ facts: [result] })).at(-1)!.content).toContain('line 239 — files.read_text_file');
    const results = Array.from({ length: 40 }, () => result);
    const prompt = synthesisPrompt(synthesis({ facts: results }), 6_000);
    expect(estimatePrompt(prompt)).toBeLessThanOrEqual(6_000);
    expect(prompt.at(-1)!.content).toContain('[40] line 0 line 1');
  });

  it('is written whole if the context size is unknown', () => {
    expect(synthesisPrompt(synthesis())).toHaveLength(turns.length + 2);
  });

  it('is short for planner and expert too', () => {
    const request = {
      goal: 'Where?',
      requestedAt: 0,
      conversation: turns,
      system: null,
      template: { experts: { general: {} }, capabilities: ['research'], planner: { prompt: null } },
    } as unknown as PlanRequested['data'];
    expect(estimatePrompt(plannerPrompt(request, null, 1_000))).toBeLessThanOrEqual(1_000);
    const expert = {
      kind: 'expert',
      category: 'general',
      task: 't',
      goal: 'g',
      conversation: turns,
      system: null,
      prompt: '',
      evidence: facts,
    } as const;
    expect(estimatePrompt(expertPrompt({ ...expert, conversation: [...turns], evidence: [...facts] }, 5_000))).toBeLessThanOrEqual(5_000);
    expect(plannerPrompt(request, null)[0]!.content).toContain('"search_question"');
    expect(plannerPrompt({ ...request, conversation: [] }, null)[0]!.content).not.toContain('search_question');
  });
});

describe('a composer whose answer a program reads', () => {
  it('requests only JSON: no citations, no block, no list of sources', () => {
    const system = synthesisPrompt(synthesis({ parameters: { response_format: { type: 'json_object' } } }))[0]!.content;
    expect(system).toContain('as JSON only');
    expect(system).not.toContain('<SYNTHESIS_INSIGHT>');
    expect(synthesisPrompt(synthesis({ parameters: { response_format: { type: 'text' } } }))[0]!.content).toContain('<SYNTHESIS_INSIGHT>');
  });
});

describe('a fence', () => {
  it.each(['<<<<DATA', 'DATA>>>>', '<<<<<<DATA x DATA>>>>>>'])('is not opened or closed from inside by %s', (text) => {
    const fenced = asData(text);
    expect(fenced.match(/<<<DATA/g)).toHaveLength(1);
    expect(fenced.match(/DATA>>>/g)).toHaveLength(1);
  });
});
