import { Failure } from '@conclave/contracts';
import type { ToolDescription, ToolServers } from '@conclave/ports';
import { sleepUnless } from './simulated-models.js';
import { through } from './port-view.js';
import { never } from './storm.js';
import type { LivingProcess, ModelWorld } from './surroundings.js';

const inputSchema = { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] };
const described: readonly ToolDescription[] = [
  { name: 'desk.count', description: 'Counts', signature: 'item: string', inputSchema, repeatable: true },
  { name: 'desk.order', description: 'Orders', signature: 'item: string', inputSchema, repeatable: false },
];

/** A desk that counts and orders, slowly; an order is an outside effect that cannot be undone. */
export function simulatedTools(process: LivingProcess, world: ModelWorld): ToolServers {
  const { storm, observations, planted } = process.world;
  const find = (name: string): ToolDescription => {
    const tool = described.find((one) => one.name === name);
    if (!tool) throw new Failure('TOOL_UNKNOWN', `It was called \`${name}\`.`);
    return planted.tool?.(tool) ?? tool;
  };
  return {
    offers: async () => described,
    describe: (name) => through(process, 'tools.describe', 'tools', [name], () => find(name)),
    call: ({ tool, args, signal }) =>
      through(process, 'tools.call', 'tools', [], async () => {
        if (signal.aborted) throw new Failure('CALL_CANCELLED');
        await sleepUnless(world.random.between(5, 200), signal);
        if (process.dead) return never();
        if (signal.aborted) throw new Failure('CALL_CANCELLED');
        if (storm.chance(storm.plan.modelFault)) throw new Failure('TOOL_FAILED', 'Simulated: the tool refuses.');
        const item = String((args as { item?: unknown }).item);
        if (tool === 'desk.order') observations.orders.push(item);
        await sleepUnless(world.random.between(1, 200), signal);
        if (process.dead) return never();
        if (signal.aborted) throw new Failure('CALL_CANCELLED');
        return { content: `${tool} of ${item}: ${world.random.below(100)}`, structured: null, isError: world.random.chance(0.1) };
      }),
    status: () => [],
    close: async () => undefined,
  };
}
