import { expect, it } from '@jest/globals';
import { type StreamEntry, thoughts } from '@conclave/contracts';
import { CommitteeScript, type System, expert, plainTemplate, research } from '@conclave/test-support/system';
import { describeOnce } from '../harness/describe-once.js';
import { KeyedCaller, keys } from './callers.js';

export const thoughtTemplates = {
  deep: {
    ...plainTemplate,
    strategy: 'agentic',
    max_agentic_rounds: 2,
    gap_check: 'evidence',
    complexity: 'complex',
    thinking: true,
    capabilities: ['research', 'math', 'graph'],
  },
  careful: {
    ...plainTemplate,
    strategy: 'single-pass',
    refine_rounds: 1,
    critic: ['legal_advisor'],
    experts: { legal_advisor: { t1: ['scripted@fake'], t2: ['other@fake'] } },
  },
} as const;

/** A skill that an operator has put into the folder. */
export const briefSkill =
  '---\nname: brief\ndescription: Answers in one sentence.\n---\nIn one sentence, and like a lighthouse keeper: $ARGUMENTS\n';

type Thought = Extract<StreamEntry, { kind: 'thought' | 'progress' }>;
const thoughtsIn = (entries: readonly StreamEntry[]): readonly Thought[] =>
  entries.filter((entry): entry is Thought => (entry.kind === 'thought' || entry.kind === 'progress') && entry.code in thoughts);

/** The thought stream: every kind, and who may read its content. */
export function thoughtScenarios(system: () => System): void {
  const [ann, bob] = [new KeyedCaller(system, keys.ann), new KeyedCaller(system, keys.bob)];
  const script = (question: string): CommitteeScript => new CommitteeScript(system().models, question);

  /** Research, mathematics, graph, two rounds and thinking, requested through a skill. */
  const deep = (label: string): CommitteeScript =>
    script(`Why does the light turn (${label})?`)
      .plan([
        research('r1', 'light'),
        { id: 'm1', task: 'Solve it', capability: 'math', mcp_tool: 'solve', mcp_args: { expression: '3*x = 15', variable: 'x' } },
        { id: 'g1', task: 'What is known?', capability: 'graph' },
        expert('x1', 'Explain the first part.'),
      ])
      .expert('It turns on mercury.', { task: 'Explain the first part.' })
      .gap('the reason', 'Why?')
      .plan([expert('x2', 'Explain the second part.')], { iteration: 1 })
      .expert('To be seen from all sides.', { task: 'Explain the second part.' })
      .complete()
      .judge('thinker', 'CONCLUSION: it has to be seen.')
      .answer(['It turns to be seen.']);
  /** Two tiers, both unsure, refinement and review. */
  const careful = (label: string): CommitteeScript =>
    script(`May a keeper leave the light (${label})?`)
      .plan([expert('x1', 'Say what the law says.', 'legal_advisor')])
      .expertReply({ text: 'Perhaps.\nFINDING: Perhaps.\nCONFIDENCE: low' }, undefined, 2)
      .judge('adviser', { hints: [{ task: 'x1~t2', hint: 'Name the rule.' }] })
      .expertReply({ text: 'No, by rule 7.\nFINDING: Rule 7 forbids it.\nCONFIDENCE: 0.6' }, 'HINTS OF THE JUDGE:')
      .judge('scorer', { scores: [{ task: 'x1~r1', a: 0.2, b: 0.8 }] })
      .answer([
        'Rule 7 forbids it as long as the light is lit and nobody else of the crew is on watch in the tower or can be called to it in time.',
      ])
      .judge('critic', { verdict: 'confirmed', reasons: [] });

  describeOnce('the thought stream', () => {
    it('The context of an empty graph is an empty text.', async () => {
      const one = await ann.answered('deep', `/brief ${deep('all').question}`);
      const two = await ann.answered('careful', careful('all').question);
      const quick = script('How far does the light reach (fast path)?')
        .plan([expert('x1', 'Say it.')])
        .expert('20 miles.', { confidence: 0.9 });
      const three = await ann.answered('careful', quick.question);
      expect([one.outcome, two.outcome, three.outcome]).toEqual(['completed', 'completed', 'completed']);
      const all = (await Promise.all([one, two, three].map(({ id }) => ann.events(id)))).flatMap(thoughtsIn);
      const seen = new Set(all.map(({ code }) => code));
      expect(Object.keys(thoughts).filter((code) => !seen.has(code))).toEqual([]);
      expect(seen.size).toBe(22);
      for (const [code, { detail }] of Object.entries(thoughts)) {
        // The context of an empty graph is an empty text.
        const shown = all.some((entry) => entry.code === code && typeof entry.detail === 'string');
        expect([code, shown]).toEqual([code, detail !== null]);
      }
      const detailOf = (code: string): string =>
        all
          .filter((entry) => entry.code === code)
          .map((entry) => entry.detail)
          .join('\n');
      expect(detailOf('planner.prompt')).toContain('You are the planner of a committee of experts.');
      expect(detailOf('expert.response')).toContain('CONFIDENCE:');
      expect(detailOf('skill.resolved')).toContain('like a lighthouse keeper');
      expect(detailOf('critic.response')).toContain('confirmed');
    });

    it('is redacted for another key of the tenant, and not stored by runs of that key', async () => {
      const own = await ann.answered('careful', careful('read by another').question);
      const [full, redacted] = [thoughtsIn(await ann.events(own.id)), thoughtsIn(await bob.events(own.id))];
      expect(redacted.map(({ code, text }) => [code, text])).toEqual(full.map(({ code, text }) => [code, text]));
      expect(full.filter(({ detail }) => detail).length).toBeGreaterThan(5);
      expect(redacted.filter(({ detail }) => detail)).toEqual([]);
      const bobs = await bob.answered('careful', careful('by another').question);
      expect(thoughtsIn(await ann.events(bobs.id)).filter(({ detail }) => detail)).toEqual([]);
      const before = system().models.calls.length;
      const asked = await bob.send('POST', '/runs', { model: 'careful', input: 'Show me all.', conclave: { detail: 'full' } });
      expect(asked).toMatchObject({ status: 403, body: { error: { code: 'DETAIL_NOT_ALLOWED' } } });
      const nobody = await new KeyedCaller(system, 'sk-nobody').send('GET', `/runs/${own.id}`);
      expect([nobody.status, system().models.calls.length]).toEqual([401, before]);
    });
  });
}
