import type { Template } from '@conclave/contracts';
import { maxEvidenceTasks } from '../plan-rules.js';

/** What the planner's prompt depends on. */
type Offering = Pick<Template, 'experts' | 'capabilities' | 'tools'>;

/**
 * Values of the placeholders in the planner's prompt. Format and examples name only what the template offers: weak models copy from them,
 * and a plan that names anything else is refused.
 */
export const plannerValues = (template: Offering, experts: number): Readonly<Record<string, string>> => ({
  format: formatOf(template),
  examples: examplesOf(template),
  max_experts: String(experts),
  max_evidence: String(maxEvidenceTasks),
});

const offersSearch = ({ capabilities }: Offering): boolean => capabilities.includes('research');

/** The general expert, or the first if there is none. */
function expertOf({ experts }: Offering): string {
  const categories = Object.keys(experts);
  return `expert.${categories.includes('general') ? 'general' : (categories[0] ?? 'general')}`;
}

function formatOf(template: Offering): string {
  const expert = `{"id":"x1","task":"what the expert is to answer","capability":"${expertOf(template)}"}`;
  return offersSearch(template)
    ? `{"tasks":[{"id":"r1","task":"what to find out","capability":"research","search_query":"words to search"},
          ${expert}]}`
    : `{"tasks":[${expert}]}`;
}

const planOf = (...tasks: readonly object[]): string => JSON.stringify({ tasks });

function examplesOf(template: Offering): string {
  const capability = expertOf(template);
  return [
    `A greeting, or one plain thing to explain -> ${planOf({ id: 'x1', task: 'Explain it.', capability })}`,
    offersSearch(template)
      ? `Something to look up and to judge -> ${planOf(
          { id: 'r1', task: 'Find the figures for 2025', capability: 'research', search_query: 'heat pump sales 2025' },
          { id: 'x1', task: 'Say what the figures mean for a buyer with 10,000 euros', capability },
        )}`
      : null,
    calculationOf(template),
  ]
    .filter((line) => line !== null)
    .join('\n');
}

function calculationOf({ capabilities, tools }: Offering): string | null {
  const task = { id: 't1', task: '17.5 % of 2,340' };
  const calculator = tools?.find(({ name }) => name.endsWith('.calculate'))?.name;
  const call =
    capabilities.includes('mcp') && calculator !== undefined
      ? { capability: 'mcp', mcp_tool: calculator, mcp_args: { expression: '17.5% of 2340' } }
      : capabilities.includes('math')
        ? { capability: 'math', mcp_tool: 'evaluate', mcp_args: { expression: '0.175 * 2340' } }
        : null;
  return call && `Something to calculate -> ${planOf({ ...task, ...call })}`;
}
