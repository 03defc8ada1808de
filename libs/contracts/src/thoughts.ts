import * as z from 'zod';

/** One kind of the thought stream: a stable code, and how it is shown. */
export interface Thought {
  readonly emoji: string;
  readonly title: string;
  /** Content of the entry at full detail; without it only stages, tasks, sources, gaps, durations and cost are shown. */
  readonly detail: string | null;
}

/** The 22 kinds, in the order of moe-pipeline.md, Visible Events in the Thinking Panel. Its GPU node is a provider here. */
export const thoughts = {
  'skill.resolved': { emoji: '🎯', title: 'Skill', detail: 'name, arguments and the resulting prompt' },
  'planner.prompt': { emoji: '📋', title: 'Planner prompt', detail: 'the whole prompt with role, rules and examples' },
  'planner.result': { emoji: '📋', title: 'Plan', detail: 'the plan as JSON' },
  'expert.prompt': { emoji: '📤', title: 'Expert system prompt', detail: 'system prompt of the expert and its task' },
  'expert.call': { emoji: '🚀', title: 'Expert call', detail: null },
  'expert.response': { emoji: '✅', title: 'Expert response', detail: 'the reply with GAPS and REFER' },
  'expert.tier': { emoji: '🪜', title: 'T1/T2 routing', detail: null },
  'mcp.call': { emoji: '⚙️', title: 'Tool call', detail: 'tool and arguments as JSON' },
  'mcp.result': { emoji: '⚙️', title: 'Tool result', detail: 'the whole result' },
  'research.result': { emoji: '🌐', title: 'Research', detail: 'query and results with their sources' },
  'graph.context': { emoji: '🔗', title: 'GraphRAG', detail: 'the structured context' },
  'reasoning.prompt': { emoji: '🧠', title: 'Reasoning prompt', detail: 'the whole prompt of the four steps' },
  'reasoning.result': { emoji: '🧠', title: 'Reasoning', detail: 'decomposition to conclusion' },
  'refinement.prompt': { emoji: '🔄', title: 'Refinement prompt', detail: 'the prompt for unsure experts' },
  'refinement.response': { emoji: '🔄', title: 'Refinement', detail: 'verdict of the judge, and the change of each score' },
  'agentic.iteration': { emoji: '🔄', title: 'Agentic Loop', detail: null },
  'merger.prompt': { emoji: '🔀', title: 'Merger prompt', detail: 'the whole prompt with the results of all experts' },
  'merger.response': { emoji: '🔀', title: 'Merger response', detail: 'the text before the critic' },
  'critic.prompt': { emoji: '🔎', title: 'Critic prompt', detail: 'the whole prompt' },
  'critic.response': { emoji: '🔎', title: 'Critic', detail: 'the verdict with its reasons' },
  'expert.unsure': { emoji: '⚠️', title: 'Low confidence', detail: null },
  'fast.path': { emoji: '💨', title: 'Fast path', detail: null },
} as const satisfies Record<string, Thought>;

export type ThoughtCode = keyof typeof thoughts;
export const ThoughtCode = z.enum(Object.keys(thoughts) as [ThoughtCode, ...ThoughtCode[]]);

/** Longest prompt or reply of an entry, in characters; longer text is cut and says so. */
export const longestDetail = 32_000;

export const boundedDetail = (text: string): string =>
  text.length <= longestDetail ? text : `${text.slice(0, longestDetail)}\n[${text.length - longestDetail} more characters]`;
