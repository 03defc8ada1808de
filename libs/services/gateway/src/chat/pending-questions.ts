import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Caller, type CommandIssued, type Template, type TextMessage, Usage } from '@conclave/contracts';
import { commandsIn, type RunState } from '@conclave/loop';
import { STATE, type StateStore } from '@conclave/ports';
import { commandsOf } from '@conclave/strategies';
import * as z from 'zod';
import { placeholderOf } from '../attachments/content-parts.js';
import type { RepeatKey } from '../runs/checked-request.js';
import type { ClientQuestion } from './chat-request.js';

/** Number of turns before a question that distinguish its conversation: clients drop the oldest turns of a long one. */
const comparedTurns = 4;
/** Most runs that wait in equal conversations of one caller: several users of a front end may share one key and ask the same. */
const mostWaiting = 8;
/** Milliseconds after the deadline of a question during which a retry of its answer still finds the run. */
const retryMs = 30 * 60_000;

const Waiting = z.array(z.object({ runId: z.string(), usage: Usage })).max(mostWaiting);

/** A run that the last message of a conversation answers. */
export interface AnsweredRun {
  readonly runId: string;
  /** The usage of the run when it asked, which was reported with the question. */
  readonly usage: Usage;
  /** Number of the command with which an earlier, equal request has answered; null if the answer has not been sent. */
  readonly seq: number | null;
  /** The answer; absent if it is the last message. */
  readonly command?: Extract<CommandIssued['data']['command'], { name: 'answer' }>;
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Key of a caller's conversation that ends with this question. Keys of different tenants never coincide. */
function keyOf(model: string, { actor }: Caller, before: readonly TextMessage[], question: string): string {
  const turns = before.slice(-comparedTurns).map(({ role, content }) => [role, plain(content)]);
  const text = JSON.stringify([actor, model, turns, plain(question)]);
  return `question/${createHash('sha256').update(text).digest('hex')}`;
}

/** The last message as it appears in the conversation of the next request. */
export const lastTurn = ({ goal, given }: ClientQuestion): TextMessage => ({
  role: 'user',
  content: [goal, ...given.filter(({ asked }) => asked).map(({ part }) => placeholderOf(part))].filter(Boolean).join('\n'),
});

/**
 * Questions of runs to the users of chats. A question ends its turn, and OpenAI's protocol has no conversation id: the next turn is recognised by
 * its caller, its model, the question, and the turns before it.
 */
@Injectable()
export class PendingQuestions {
  constructor(@Inject(STATE) private readonly state: Pick<StateStore, 'caches' | 'runs' | 'now' | 'durable'>) {}

  /** Stores that a run waits for the next message of this conversation. Durable when it resolves. Throws STORE_*. */
  async note(
    asking: { readonly runId: string; readonly usage: Usage; readonly question: string; readonly deadline: number },
    asked: ClientQuestion,
    caller: Caller,
  ): Promise<void> {
    const { runId, usage, question, deadline } = asking;
    const key = keyOf(asked.model, caller, [...asked.conversation, lastTurn(asked)], question);
    const others = (await this.waitingAt(caller.tenant, key)).filter((one) => one.runId !== runId);
    const value = [...others, { runId, usage }].slice(-mostWaiting);
    const ttlMs = Math.max(0, deadline - (await this.state.now())) + retryMs;
    await this.state.caches.write({ tenant: caller.tenant, key, value, ttlMs, tags: [] });
    await this.state.durable();
  }

  /**
   * The run whose question the last message answers: one that waits for it, or one that an equal request has already answered. Null for any other
   * conversation. Throws STORE_*.
   */
  async answered(
    { model, conversation }: ClientQuestion,
    { strategy, split, split_of }: Template,
    caller: Caller,
    { key, mayAttach }: RepeatKey,
  ): Promise<AnsweredRun | null> {
    const question = conversation.at(-1);
    // A request may belong to another arm of the split than the run that asked.
    const mayAsk = commandsOf(strategy).includes('answer') || split !== undefined || split_of !== undefined;
    if (!mayAsk || question?.role !== 'assistant') return null;
    for (const { runId, usage } of await this.waitingAt(caller.tenant, keyOf(model, caller, conversation.slice(0, -1), question.content))) {
      const header = await this.state.runs.header(runId);
      const stored = await this.state.runs.read<Pick<RunState, 'commands' | 'question'>>(runId);
      if (!stored || header?.data.caller.tenant !== caller.tenant || header.data.caller.actor !== caller.actor) continue;
      const repeated = mayAttach ? commandsIn(stored.state).find((command) => command.key === key) : undefined;
      if (repeated) return { runId, usage, seq: repeated.seq };
      const waits = !stored.terminal && stored.state.question;
      if (waits && plain(waits.text) === plain(question.content)) return { runId, usage, seq: null };
    }
    return null;
  }

  private async waitingAt(tenant: string, key: string): Promise<z.infer<typeof Waiting>> {
    const read = Waiting.safeParse((await this.state.caches.read(tenant, key))?.value);
    return read.success ? read.data : [];
  }
}
