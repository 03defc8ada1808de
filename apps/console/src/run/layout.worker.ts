import dagre from '@dagrejs/dagre';

export interface PlacedNode {
  readonly id: string;
  readonly round: number;
  readonly needs: readonly string[];
  readonly width: number;
  readonly height: number;
}
export interface ToPlace {
  readonly nodes: readonly PlacedNode[];
}
/** Upper left corner of each node by its id, in pixels. */
export type Placed = Readonly<Record<string, { readonly x: number; readonly y: number }>>;

/** Rounds are placed below one another; inside a round, a task is placed below the tasks that it waits for. */
function place({ nodes }: ToPlace): Placed {
  const places: Record<string, { x: number; y: number }> = {};
  let top = 0;
  for (const round of [...new Set(nodes.map((node) => node.round))].sort((one, other) => one - other)) {
    const own = nodes.filter((node) => node.round === round);
    const ids = new Set(own.map(({ id }) => id));
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ rankdir: 'TB', nodesep: 16, ranksep: 32 });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const { id, width, height } of own) graph.setNode(id, { width, height });
    for (const { id, needs } of own) for (const need of needs) if (ids.has(need)) graph.setEdge(need, id);
    dagre.layout(graph);
    const width = graph.graph().width ?? 0;
    for (const { id, width: wide, height } of own) {
      const { x, y } = graph.node(id);
      places[id] = { x: x - wide / 2 - width / 2, y: top + y - height / 2 };
    }
    top += (graph.graph().height ?? 0) + 48;
  }
  return places;
}

onmessage = ({ data }: MessageEvent<ToPlace>) => postMessage(place(data));
