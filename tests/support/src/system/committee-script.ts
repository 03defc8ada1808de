import { promptMarks as marks } from '@conclave/contracts';
import { textOf as contentText } from '../model-server/script.js';
import type { ServedCall, ScriptedChunk, ScriptedModelServer, ScriptedReply, ScriptedRequest, ScriptedStep } from '../index.js';

/** Roles whose prompts begin with a fixed line. */
const named = [
  'planner',
  'waves',
  'assessor',
  'composer',
  'thinker',
  'adviser',
  'scorer',
  'critic',
  'learner',
  'router',
  'reader',
  'evaluator',
  'refiner',
  'reasoner',
  'preparer',
  'rater',
  'decider',
  'compressor',
  'decomposer',
  'topicReader',
  'classifier',
] as const;
export type Role = (typeof named)[number] | 'expert' | 'direct';

type Messages = ScriptedRequest['messages'];
const textOf = (messages: Messages): string => messages.map((message) => contentText(message.content)).join('\n');

/** Which call of the committee a request is, according to the fixed lines of its prompt. */
export function roleOf({ messages }: { readonly messages: Messages }): Role {
  const system = messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => contentText(content))
    .join('\n');
  const found = named.find((role) => system.includes(marks.roles[role]));
  if (found) return found;
  if (system.includes('You are an expert of the committee: ')) return 'expert';
  return 'direct';
}

/** Number of the re-plan that a planner call is for, 0 for the first plan. */
const iterationOf = ({ messages }: ScriptedRequest): number => Number(/=== AGENTIC ITERATION (\d+)\//.exec(textOf(messages))?.[1] ?? 0);

export interface Task {
  readonly id: string;
  readonly task: string;
  readonly capability: string;
  readonly search_query?: string;
  readonly mcp_tool?: string;
  readonly mcp_args?: Readonly<Record<string, unknown>>;
  readonly metadata_filters?: Readonly<Record<string, string>>;
  readonly needs?: readonly string[];
  /** Earlier task that it repeats. */
  readonly redoes?: string;
}
export const research = (id: string, query: string): Task => ({ id, task: `find: ${query}`, capability: 'research', search_query: query });
export const expert = (id: string, task: string, category = 'general'): Task => ({ id, task, capability: `expert.${category}` });

/** One wave as the planner of `waves` writes it. */
export interface Wave {
  readonly status: 'continue' | 'done';
  readonly action: string;
  readonly slots?: Readonly<Record<string, unknown>>;
  readonly tools: readonly {
    readonly id: string;
    readonly tool: string;
    readonly args: Readonly<Record<string, unknown>>;
    readonly needs?: readonly string[];
  }[];
  readonly reasoning: string;
}

/** Usage of every scripted call, chosen so that sums are exact and no two roles have the same. */
export const price: Readonly<Record<Exclude<Role, 'direct'>, { prompt_tokens: number; completion_tokens: number }>> = {
  planner: { prompt_tokens: 101, completion_tokens: 11 },
  waves: { prompt_tokens: 151, completion_tokens: 17 },
  decomposer: { prompt_tokens: 163, completion_tokens: 19 },
  topicReader: { prompt_tokens: 179, completion_tokens: 29 },
  classifier: { prompt_tokens: 97, completion_tokens: 7 },
  expert: { prompt_tokens: 203, completion_tokens: 23 },
  assessor: { prompt_tokens: 307, completion_tokens: 37 },
  composer: { prompt_tokens: 509, completion_tokens: 53 },
  thinker: { prompt_tokens: 601, completion_tokens: 61 },
  adviser: { prompt_tokens: 701, completion_tokens: 71 },
  scorer: { prompt_tokens: 809, completion_tokens: 83 },
  critic: { prompt_tokens: 907, completion_tokens: 97 },
  learner: { prompt_tokens: 1009, completion_tokens: 103 },
  router: { prompt_tokens: 1103, completion_tokens: 107 },
  reader: { prompt_tokens: 1201, completion_tokens: 109 },
  evaluator: { prompt_tokens: 1301, completion_tokens: 113 },
  refiner: { prompt_tokens: 1409, completion_tokens: 127 },
  reasoner: { prompt_tokens: 211, completion_tokens: 29 },
  preparer: { prompt_tokens: 223, completion_tokens: 31 },
  rater: { prompt_tokens: 227, completion_tokens: 41 },
  decider: { prompt_tokens: 229, completion_tokens: 43 },
  compressor: { prompt_tokens: 233, completion_tokens: 47 },
};

/** The replies for one question; the text of the question distinguishes its calls from those of other questions. */
export class CommitteeScript {
  private readonly steps: ScriptedStep[] = [];

  constructor(
    private readonly server: ScriptedModelServer,
    readonly question: string,
  ) {}

  /** Calls of this question, in order of arrival. */
  calls(role?: Role): readonly ServedCall[] {
    return this.server.calls.filter(
      (call) => textOf(call.messages).includes(this.question) && (role === undefined || roleOf(call) === role),
    );
  }
  /** Steps of this question that never answered. */
  unused(): readonly string[] {
    const waiting = new Set(this.server.unused());
    return this.steps.map((step) => step.name!).filter((name) => waiting.has(name));
  }
  /** Tokens of the given calls, by role. */
  static tokens(roles: readonly Exclude<Role, 'direct'>[]): { prompt_tokens: number; completion_tokens: number; total_tokens: number } {
    const prompt_tokens = roles.reduce((sum, role) => sum + price[role].prompt_tokens, 0);
    const completion_tokens = roles.reduce((sum, role) => sum + price[role].completion_tokens, 0);
    return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  }

  plan(tasks: readonly Task[], options: { iteration?: number; when?: Promise<unknown>; times?: number } = {}): this {
    return this.planner({ chunks: [{ text: JSON.stringify({ tasks }), ...gate(options.when) }], usage: price.planner }, options);
  }
  /** Any reply of the planner, including nonsense. */
  planner(reply: ScriptedReply, { iteration = 0, times }: { iteration?: number; times?: number } = {}): this {
    return this.step('planner', `plan ${iteration}`, reply, (request) => iterationOf(request) === iteration, times);
  }
  /** The next reply of the planner of `waves`: its plan, possibly built from the content of its prompt, or any text. */
  wave(says: Wave | ((prompt: string) => Wave) | ScriptedReply, times?: number): this {
    const written = (wave: Wave): ScriptedReply => ({ text: JSON.stringify(wave), usage: price.waves });
    const reply =
      typeof says === 'function'
        ? (request: ScriptedRequest): ScriptedReply => written(says(textOf(request.messages)))
        : 'tools' in says
          ? written(says)
          : says;
    return this.step('waves', 'next wave', reply, undefined, times);
  }
  /** A reply of a phase of `reasoning`: a value that becomes JSON, possibly built from the content of its prompt, or any text. */
  phase(
    role: 'reasoner' | 'preparer' | 'rater' | 'decider' | 'compressor',
    says: object | string | ((prompt: string) => object),
    { when, times }: { when?: Promise<unknown>; times?: number } = {},
  ): this {
    const written = (value: object | string): ScriptedReply => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return { chunks: [{ text, ...gate(when) }], usage: price[role] };
    };
    const reply = typeof says === 'function' ? (request: ScriptedRequest) => written(says(textOf(request.messages))) : written(says);
    return this.step(role, role, reply, undefined, times);
  }
  expert(text: string, options: { confidence?: number; task?: string; when?: Promise<unknown> } = {}): this {
    const reply = `${text}\nFINDING: ${text}\nCONFIDENCE: ${options.confidence ?? 0.6}\nGAPS: none\nREFER: none`;
    return this.expertReply({ chunks: [{ text: reply, ...gate(options.when) }], usage: price.expert }, options.task);
  }
  expertReply(reply: ScriptedReply, task?: string, times?: number): this {
    return this.step('expert', task ?? 'expert', reply, (request) => task === undefined || textOf(request.messages).includes(task), times);
  }
  gap(gap: string, nextFocus: string): this {
    return this.assessor({ text: `COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: ${gap}\nNEXT_FOCUS: ${nextFocus}`, usage: price.assessor });
  }
  complete(): this {
    return this.assessor({ text: 'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none', usage: price.assessor });
  }
  assessor(reply: ScriptedReply): this {
    return this.step('assessor', 'gap check', reply);
  }
  /** Sub-topics as the planner of `decompose` lists them, or any reply. */
  topics(says: object | ScriptedReply, times?: number): this {
    const reply =
      'text' in says || 'chunks' in says || 'status' in says
        ? (says as ScriptedReply)
        : { text: JSON.stringify(says), usage: price.decomposer };
    return this.step('decomposer', 'topics', reply, undefined, times);
  }
  /** What the reader of passages notes about a sub-topic. */
  facts(topic: string, reply: ScriptedReply | readonly { readonly fact: string; readonly source: number }[], times?: number): this {
    const says = Array.isArray(reply) ? { text: JSON.stringify({ facts: reply }), usage: price.topicReader } : (reply as ScriptedReply);
    return this.step('topicReader', `facts on ${topic}`, says, ({ messages }) => textOf(messages).includes(`TASK: ${topic}`), times);
  }
  /** The kind of question that the router of `adaptive` replies, or any reply. */
  route(reply: string | ScriptedReply, times?: number): this {
    return this.step(
      'classifier',
      'route',
      typeof reply === 'string' ? { text: JSON.stringify({ class: reply }), usage: price.classifier } : reply,
      undefined,
      times,
    );
  }
  /** A reply of the judge's other parts, as text or as a value that becomes JSON. */
  judge(role: 'thinker' | 'adviser' | 'scorer' | 'critic' | 'learner', says: string | object, times?: number): this {
    return this.step(role, role, { text: typeof says === 'string' ? says : JSON.stringify(says), usage: price[role] }, undefined, times);
  }
  /** The next reply of a part of `reflective-rag`, possibly built from the content of its prompt: text, or a value that becomes JSON. */
  part(
    role: 'router' | 'reader' | 'evaluator' | 'refiner',
    says: string | object | ((prompt: string) => string | object),
    times?: number,
  ): this {
    const reply = (request: ScriptedRequest): ScriptedReply => {
      const said: string | object =
        typeof says === 'function' ? (says as (prompt: string) => string | object)(textOf(request.messages)) : says;
      return { text: typeof said === 'string' ? said : JSON.stringify(said), usage: price[role] };
    };
    return this.step(role, role, reply, undefined, times);
  }
  answer(chunks: readonly (string | ScriptedChunk)[]): this {
    return this.composer({ chunks: chunks.map((chunk) => (typeof chunk === 'string' ? { text: chunk } : chunk)), usage: price.composer });
  }
  composer(reply: ScriptedReply, times?: number): this {
    return this.step('composer', 'answer', reply, () => true, times);
  }

  private step(
    role: Role,
    name: string,
    reply: ScriptedStep['reply'],
    fits: (request: ScriptedRequest) => boolean = () => true,
    times?: number,
  ): this {
    const step: ScriptedStep = {
      name: `${this.question} · ${role} · ${name} · ${this.steps.length}`,
      match: (request) => roleOf(request) === role && textOf(request.messages).includes(this.question) && fits(request),
      reply,
      ...(times === undefined ? {} : { times }),
    };
    this.steps.push(step);
    this.server.add(step);
    return this;
  }
}

const gate = (when: Promise<unknown> | undefined): { when?: Promise<unknown> } => (when ? { when } : {});

/** A promise that a test resolves when it has seen what it waited for. */
export function latch(): { readonly opened: Promise<void>; open(): void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
