import { bounded, oneLine } from '../prompts/quoting.js';
import { toolOf } from '../replies/names.js';
import { defineCapability } from './declaration.js';

export const mcp = defineCapability({
  name: 'mcp',
  aliases: ['precision_tools', 'tool'],
  forPlanner: 'runs a tool; give `mcp_tool` and `mcp_args`. Tools:',
  listed: ({ tools = [] }) =>
    tools.map(({ name, signature, description }) => `${name}(${signature}): ${oneLine(bounded(description, 160))}`),
  takesArguments: true,
  tool: ({ tool, named }, template) => toolOf(tool ?? (named.includes('.') ? named : null), template),
  faults: ({ id, tool }, template) => {
    if (!tool) return [`Task "${id}" names no mcp_tool.`];
    const offered = (template.tools ?? []).map(({ name }) => name);
    if (offered.includes(tool)) return [];
    return [`Task "${id}" names the unknown tool "${tool}". Use one of: ${offered.join(', ') || 'none is offered'}.`];
  },
  input: ({ task: { spec } }) => ({ kind: 'mcp', task: spec.task, tool: spec.tool ?? '', args: spec.args ?? {} }),
  taskClass: 'evidence',
});
