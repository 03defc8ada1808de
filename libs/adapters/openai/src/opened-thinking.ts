/**
 * Families whose usual prompt template ends with `<think>`, so that a reply holds only the closing tag, unless the server separates the
 * thinking itself.
 */
const families = [
  /(?:^|[/_.:-])qwq(?![a-z])/,
  /deepseek-r1/,
  /(?:^|[/_.:-])thinking(?![a-z])/, // Qwen3 2507, Qwen3-Next, Kimi K2
  /(?:^|[/_.:-])qwen3\.[5-9]/,
  /minimax-m2/,
  /openreasoning|acereason|skywork-or1|nemotron-nano-(?:9b|12b)-v2/,
];

/** Whether the replies of a model with this name usually begin in the middle of thinking. */
export const opensThinkingByName = (model: string): boolean => families.some((family) => family.test(model.toLowerCase()));

/**
 * Whether a prompt template ends with an open `<think>`: a Jinja template, as llama.cpp reports it, or one of Ollama. Null if the text does not
 * decide it.
 */
export function opensThinking(template: unknown): boolean | null {
  if (typeof template !== 'string' || template === '') return null;
  const at = template.lastIndexOf('add_generation_prompt');
  if (at < 0) return /<think>(?:\s|\{\{[^{}]*\}\})*$/.test(template);
  const closed = /<think>(?:\s|\\n)*<\/think>/g;
  const end = template.slice(at).replace(closed, '');
  return end.includes('</think>') ? null : end.includes('<think>');
}
