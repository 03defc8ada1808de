import { mcpServer, type ToolSays } from './mcp-server.js';
import type { StoppableServer } from './stoppable-server.js';

/** Header and value that the warehouse requires of its callers. */
export const warehouseKey = { name: 'x-stock-key', value: 'stock-canary-c07e55' } as const;

const bins: Readonly<Record<string, { readonly item: string; readonly pieces: number }>> = {
  'bin-11': { item: 'anvil', pieces: 4 },
  'bin-12': { item: 'bellows', pieces: 9 },
};
/** Bins whose pieces are set aside without an answer: the connection breaks, or stays silent. */
export const brokenBin = 'bin-13';
export const silentBin = 'bin-14';
/** Lines of the complete list, and its last one. */
const listed = Array.from({ length: 2_000 }, (_, n) => `shelf ${n} holds nothing but dust`);
export const lastShelf = listed.at(-1)!;

const text = { type: 'string' } as const;

/** A world of tools that has nothing in common with the hotel: pieces in bins, counted and reserved. */
export class Warehouse {
  /** Every call that arrived, as `tool argument ...`. */
  readonly arrived: string[] = [];
  /** Awaited before a count is answered. */
  beforeCount: () => Promise<void> = () => Promise.resolve();
  private server!: StoppableServer;

  static async open(): Promise<Warehouse> {
    const warehouse = new Warehouse();
    warehouse.server = await mcpServer('stock', warehouse.tools(), warehouseKey);
    return warehouse;
  }
  get url(): string {
    return `${this.server.url}/mcp`;
  }
  close(): Promise<void> {
    return this.server.stop();
  }

  /** From now on no count is answered before this many of them have arrived. */
  countTogether(calls: number): void {
    let open = (): void => undefined;
    const together = new Promise<void>((resolve) => (open = resolve));
    let here = 0;
    this.beforeCount = () => {
      here += 1;
      if (here === calls) open();
      return together;
    };
  }

  private tools(): Parameters<typeof mcpServer>[1] {
    const noted = (tool: string, args: Readonly<Record<string, unknown>>): void =>
      void this.arrived.push([tool, ...Object.values(args).map(String)].join(' '));
    return {
      locate: {
        description: 'Says in which bin a thing lies.',
        properties: { item: text },
        required: ['item'],
        readOnly: true,
        run: (args): ToolSays => {
          noted('locate', args);
          const found = Object.entries(bins).find(([, { item }]) => item === args['item']);
          return found ? { item: found[1].item, bin: found[0] } : { refused: `ITEM_UNKNOWN: no ${String(args['item'])} is kept here.` };
        },
      },
      count: {
        description: 'Says how many pieces lie in a bin.',
        properties: { bin: text },
        required: ['bin'],
        readOnly: true,
        run: async (args): Promise<ToolSays> => {
          noted('count', args);
          await this.beforeCount();
          const bin = bins[String(args['bin'])];
          return bin ? { bin: args['bin'], pieces: bin.pieces } : { refused: `BIN_UNKNOWN: there is no ${String(args['bin'])}.` };
        },
      },
      list: {
        description: 'Lists every shelf.',
        properties: {},
        readOnly: true,
        run: (): ToolSays => ({ first: 'the shelf at the door', listed }),
      },
      reserve: {
        description: 'Puts pieces of a bin aside.',
        properties: { bin: text, pieces: { type: 'integer', minimum: 1 } },
        required: ['bin', 'pieces'],
        run: (args): ToolSays => {
          noted('reserve', args);
          return args['bin'] === brokenBin ? 'cut' : args['bin'] === silentBin ? 'held' : { reserved: args['pieces'] };
        },
      },
    };
  }
}
