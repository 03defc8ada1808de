import { createHash } from 'node:crypto';
import type { ResponseRequest } from '@conclave/contracts';
import { isJsonObject, type JsonObject } from '@conclave/ports';

/** Characters that the name of a function may have in the chat protocol. */
const longestName = 64;

/** How a call of a function names it in this API. */
export interface CalledName {
  readonly name: string;
  /** The namespace of the function, such as the MCP server of an agent. */
  readonly namespace?: string;
}

/**
 * The name of a function in the chat protocol, which has no namespaces: `namespace__name`. One that would be too long is cut, and ends with
 * a hash of the whole.
 */
export function chatName(name: unknown, namespace: unknown): unknown {
  if (typeof name !== 'string' || typeof namespace !== 'string' || namespace === '') return name;
  const whole = `${namespace}__${name}`;
  if (whole.length <= longestName) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `${whole.slice(0, longestName - hash.length - 1)}_${hash}`;
}

/** The functions of a request, those of its namespaces included. Tools that OpenAI's own servers run exist nowhere else and are left out. */
export const functionsOf = (tools: ResponseRequest['tools']): readonly { readonly tool: JsonObject; readonly namespace: unknown }[] =>
  (tools ?? []).flatMap((tool: JsonObject) => {
    if (tool['type'] === 'function') return [{ tool, namespace: null }];
    const inside = tool['type'] === 'namespace' && Array.isArray(tool['tools']) ? (tool['tools'] as readonly unknown[]) : [];
    return inside.filter(isJsonObject).flatMap((one) => (one['type'] === 'function' ? [{ tool: one, namespace: tool['name'] }] : []));
  });

/** Finds the name and the namespace of the function that a model called by its name in the chat protocol. */
export function calledNames(tools: ResponseRequest['tools']): (called: unknown) => CalledName {
  const known = new Map(
    functionsOf(tools).flatMap(({ tool: { name }, namespace }): [unknown, CalledName][] =>
      typeof name === 'string' && typeof namespace === 'string' ? [[chatName(name, namespace), { name, namespace }]] : [],
    ),
  );
  return (called) => known.get(called) ?? { name: typeof called === 'string' ? called : '' };
}
