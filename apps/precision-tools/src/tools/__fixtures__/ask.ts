import { Refusal } from '../refusal.js';
import { checkedArguments } from '../running/arguments.js';
import { jobs } from '../running/jobs.js';
import { computingTools } from '../tools.js';

/** Calls a tool like a thread, with the arguments checked first, but in this process. */
export function ask(name: string, args: Record<string, unknown>): Record<string, unknown> {
  const tool = computingTools.find((one) => one.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return jobs.get(name)!(checkedArguments(tool, args)) as Record<string, unknown>;
}

/** Code and sentence of the refusal with which a call ends. */
export function refusalOf(name: string, args: Record<string, unknown>): string {
  try {
    return `answered ${JSON.stringify(ask(name, args))}`;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return `${error.code}: ${error.message}`;
  }
}
