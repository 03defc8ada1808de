import { defineCapability } from './declaration.js';

export const math = defineCapability({
  name: 'math',
  aliases: ['sympy'],
  forPlanner:
    'exact symbolic mathematics; give `mcp_tool` (evaluate, simplify, factor, solve, integrate, differentiate, limit, sum, matrix) and `mcp_args` such as {"expression": "x^2 - 4", "variable": "x"}',
  takesArguments: true,
  input: ({ task: { spec } }) => ({ kind: 'math', task: spec.task, operation: spec.tool ?? null, args: spec.args ?? {} }),
  taskClass: 'evidence',
});
