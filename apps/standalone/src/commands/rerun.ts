import { ChatCompletion } from '@conclave/contracts';
import { comparedJson, type ComparedSide, comparedText, sideOf } from './compared-runs.js';
import { codeOf, followRun, type ForkCommand, withRunsOf } from './fork.js';
import { type GatewayClient, GatewayRefusal, withOwnGateway } from './own-gateway.js';
import { findGateway } from './running-gateway.js';

export interface RerunCommand extends Pick<ForkCommand, 'loaded' | 'runId' | 'json' | 'out' | 'terminal' | 'localServers' | 'signal'> {
  /** Template that answers instead. */
  readonly template: string;
}

/**
 * Asks the question of a recorded run again with another template, as a new run, shows its progress, then both side by side. Uses the
 * running gateway, otherwise opens the data folder in this process. Returns the exit code. Throws like `forkCommand`.
 */
export function rerunCommand(command: RerunCommand): Promise<number> {
  const { runId, template, json = false, out } = command;
  return withRunsOf(command, 'replay', async (client) => {
    const { id } = await client.again(runId, template);
    await followRun(client, id, command);
    const [original, rerun] = await Promise.all([client.run(runId), client.run(id)]);
    const sides = [sideOf(original), sideOf(rerun)] as const;
    out.write(json ? comparedJson(...sides) : comparedText(...sides));
    return codeOf(rerun);
  });
}

export interface VersusCommand extends Omit<RerunCommand, 'runId' | 'template'> {
  readonly question: string;
  /** Templates, or `model@provider`. */
  readonly models: readonly [string, string];
}

/** Asks two templates or models the same, without caches, one after the other, and shows both side by side. Returns the exit code. */
export async function versusCommand(command: VersusCommand): Promise<number> {
  const { loaded, models, json = false, out, terminal, localServers } = command;
  const use = async (client: GatewayClient): Promise<number> => {
    const left = await answered(client, models[0], command);
    const right = await answered(client, models[1], command);
    const sides = [left.side, right.side] as const;
    out.write(json ? comparedJson(...sides) : comparedText(...sides));
    return Math.max(left.code, right.code);
  };
  const running = await findGateway(loaded);
  return running ? use(running) : withOwnGateway({ loaded, service: 'ask', terminal, ...(localServers ? { localServers } : {}) }, use);
}

async function answered(
  client: GatewayClient,
  model: string,
  command: VersusCommand,
): Promise<{ readonly side: ComparedSide; readonly code: number }> {
  const { question, terminal } = command;
  terminal.write(`\n${model}\n`);
  if (/^.+@[^@]+$/.test(model)) return { side: await direct(client, model, question), code: 0 };
  const { id } = await client.start(model, question, false);
  await followRun(client, id, command);
  const run = await client.run(id);
  return { side: sideOf(run), code: codeOf(run) };
}

/** One call to a single model, which is not a run. */
async function direct(client: GatewayClient, model: string, question: string): Promise<ComparedSide> {
  const began = performance.now();
  const body = { model, messages: [{ role: 'user', content: question }] };
  const answer = ChatCompletion.safeParse(await client.json('POST', '/v1/chat/completions', body));
  if (!answer.success) throw new GatewayRefusal(`The answer of ${model} has no known form.`);
  const { choices, usage } = answer.data;
  return {
    name: model,
    outcome: 'answered',
    rule: null,
    rounds: null,
    calls: 1,
    tokens: usage ? usage.prompt_tokens + usage.completion_tokens : 0,
    // A single call reports only its tokens.
    cost: null,
    seconds: (performance.now() - began) / 1_000,
    answer: choices[0]?.message.content ?? null,
    tasks: [],
  };
}
