import { mcpServer } from './mcp-server.js';
import { StoppableServer, type ReceivedRequest, type Served } from './stoppable-server.js';

/** A query that contains this text is accepted and never answered. */
export const heldQuery = 'held back';

/** A search server with the JSON API of SearXNG. `pages`: path -> HTML, each a hit for every query that contains its path. */
export function searchServer(pages: Readonly<Record<string, string>>): Promise<StoppableServer> {
  const hitsOf = (url: string, query: string) =>
    Object.keys(pages)
      .filter((path) => query.includes(path.slice(1)))
      .map((path) => ({ url: url + path, title: `Page ${path}`, content: `A page about ${path.slice(1)}.` }));
  const answer = ({ path }: ReceivedRequest): Served => {
    if (path.includes(heldQuery)) return 'held';
    if (path.startsWith('/search')) return { body: { results: hitsOf(server.url, path) } };
    const html = pages[path];
    return html === undefined ? { status: 404, body: 'nothing', type: 'text/plain' } : { body: html, type: 'text/html; charset=utf-8' };
  };
  let server: StoppableServer;
  return StoppableServer.start(answer).then((one) => (server = one));
}

/** An MCP server with one tool whose calls are never answered. */
export const toolServer = (tool: string): Promise<StoppableServer> =>
  mcpServer('weak', { [tool]: { description: 'Weighs a thing.', properties: { thing: { type: 'string' } }, run: () => 'held' } });
