import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { CommandRequest } from '@conclave/contracts';
import { exitCodes } from './ask.js';
import type { GatewayClient } from './gateway-client.js';
import { UsageMistake } from './usage.js';

interface Out {
  write(text: string): unknown;
}

/** What can be typed while a run is watched, for people. */
export const typedHelp = `pause · resume · cancel
steer <text>              guidance for what follows
add <text>                context for what follows
override <skill> <input>  another step in place of the one in flight
answer <text>             answers the question of the run; typing only the text works too
quit                      stops watching; the run continues
`;

const texts = { steer: 'steer', s: 'steer', add: 'add_context', add_context: 'add_context', answer: 'answer', a: 'answer' } as const;
const plain = { pause: 'pause', p: 'pause', resume: 'resume', r: 'resume', cancel: 'cancel' } as const;

/** Reads a typed line as a command; `asked`: the run waits for an answer. Throws UsageMistake, which says what to type instead. */
export function typedCommand(line: string, asked: boolean): CommandRequest {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(line.trim())!;
  const name = word.toLowerCase();
  if (Object.hasOwn(plain, name) && rest === '') return { command: plain[name as keyof typeof plain] };
  if (Object.hasOwn(texts, name)) {
    if (rest === '') throw new UsageMistake(`Add the text: ${name} <text>`);
    return { command: texts[name as keyof typeof texts], text: rest };
  }
  if (name === 'override') {
    const [, skill = '', input = ''] = /^(\S+)\s+([\s\S]+)$/.exec(rest) ?? [];
    if (input === '') throw new UsageMistake('Name the skill and its input: override <skill> <input>');
    return { command: 'override_step', skill, input };
  }
  if (asked) return { command: 'answer', text: line.trim() };
  throw new UsageMistake(`"${word}" is not a command here. Type "help" for a list.`);
}

/** Options of `conclave run` that send one command. */
export interface RunControlOptions {
  readonly pause?: boolean | undefined;
  readonly resume?: boolean | undefined;
  readonly cancel?: boolean | undefined;
  readonly steer?: string | undefined;
  readonly 'add-context'?: string | undefined;
  readonly answer?: string | undefined;
  readonly 'override-step'?: string | undefined;
  readonly input?: string | undefined;
}

/** The command that the options name; null if they name none. Throws UsageMistake. */
export function optionCommand(options: RunControlOptions): CommandRequest | null {
  const found: CommandRequest[] = [];
  for (const name of ['pause', 'resume', 'cancel'] as const) if (options[name]) found.push({ command: name });
  if (options.steer !== undefined) found.push({ command: 'steer', text: options.steer });
  if (options['add-context'] !== undefined) found.push({ command: 'add_context', text: options['add-context'] });
  if (options.answer !== undefined) found.push({ command: 'answer', text: options.answer });
  if (options['override-step'] !== undefined) {
    if (options.input === undefined) throw new UsageMistake('Say what the step receives: --override-step <skill> --input <text>');
    found.push({ command: 'override_step', skill: options['override-step'], input: options.input });
  }
  if (found.length > 1) throw new UsageMistake('Send one command at a time.');
  return found[0] ?? null;
}

/** Milliseconds that the terminal waits for a command to reach its run, and between two checks. */
const patienceMs = 10_000;
const lookMs = 100;

/** Sends a command and reports its outcome. Returns the exit code: `failed` for a rejected one. Throws GatewayRefusal. */
export async function sendCommand(client: GatewayClient, runId: string, command: CommandRequest, out: Out): Promise<number> {
  const { seq } = await client.command(runId, command, randomUUID());
  out.write(`Command ${seq} (${command.command}) accepted.\n`);
  for (const until = Date.now() + patienceMs; Date.now() < until; await delay(lookMs)) {
    const { commands, terminal } = await client.run(runId);
    const known = commands.find((one) => one.seq === seq);
    if (!known && !terminal) continue;
    if (known?.status === 'applied') {
      out.write(`Applied${known.round === null ? '' : ` in round ${known.round + 1}`}.\n`);
      return exitCodes.answered;
    }
    if (known?.status === 'accepted') {
      out.write('It waits for its turn: the run is paused, or waits for an answer.\n');
      return exitCodes.answered;
    }
    out.write(`Rejected: ${known?.reason ?? 'the run ended before it came.'}\n`);
    return exitCodes.failed;
  }
  out.write('It has not reached the run yet; the stream of the run will say what becomes of it.\n');
  return exitCodes.answered;
}
