import { ReasoningOptions, type Template, type ToolOffer } from '@conclave/contracts';
import { isExpert } from '@conclave/loop';
import { capabilityOf } from '../capabilities/declared.js';
import { bounded, oneLine } from '../prompts/quoting.js';

/** Entry of a whitelist that stands for all tools that declare themselves read-only. */
const readOnlyTools = 'read_only_tools';

/** Options of the run's template, with defaults: the snapshot the run began with. */
export function optionsOf({ options = none }: Pick<Template, 'options'>): ReasoningOptions {
  const known = read.get(options);
  if (known) return known;
  const parsed = ReasoningOptions.parse(options);
  read.set(options, parsed);
  return parsed;
}
const none = {};
/** Cached, because the engine reads the options several times in each step. */
const read = new WeakMap<object, ReasoningOptions>();

/** A capability that steps may name, and its line for the planner. */
export interface Offered {
  readonly name: string;
  /** What it does and how it is called. */
  readonly about: string;
  /** Tools are named by their `server.tool`. */
  readonly tool?: ToolOffer;
}

/** What the steps of a run may use: the entries of the whitelist that the template includes. */
export function offeredBy(template: Template): readonly Offered[] {
  const { capability_whitelist: listed } = optionsOf(template);
  const tools = (template.tools ?? []).filter(
    ({ name, readOnly }) => listed.includes(name) || (readOnly === true && listed.includes(readOnlyTools)),
  );
  const capabilities = template.capabilities.filter((name) => name !== 'mcp' && !isExpert(name) && listed.includes(name));
  return [
    ...capabilities.flatMap((name): Offered[] => {
      const declared = capabilityOf(name);
      if (!declared) return [];
      const more = declared.listed?.(template) ?? [];
      return [{ name, about: [declared.forPlanner, ...more].join(' ') }];
    }),
    ...tools.map((tool): Offered => ({
      name: tool.name,
      about: `(${tool.signature}) ${oneLine(bounded(tool.description, 200))}`,
      tool,
    })),
  ];
}
