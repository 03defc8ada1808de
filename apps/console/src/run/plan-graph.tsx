import {
  Background,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
  useStoreApi,
} from '@xyflow/react';
import { memo, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { counted } from '../components/figures.js';
import type { Placed, PlacedNode, ToPlace } from './layout.worker.js';
import type { LiveRun, LiveTask } from './run-fold.js';
import { capabilityText, stateOf } from './task-words.js';

/** Above this number of tasks, a round is one node until it is opened. */
const mostNodes = 40;
const size = { width: 168, height: 56 };

interface GraphProps {
  readonly run: LiveRun;
  readonly selected: string | null;
  /** Ids of tasks to highlight, such as those that addressed a gap; null for none. */
  readonly highlighted: ReadonlySet<string> | null;
  readonly onSelect: (id: string) => void;
}

type TaskNode = Node<{ readonly task: LiveTask; readonly chosen: boolean; readonly faded: boolean }, 'task'>;
type RoundNode = Node<{ readonly epoch: number; readonly tasks: readonly LiveTask[] }, 'round'>;

const TaskBox = memo(({ data: { task, chosen, faded } }: NodeProps<TaskNode>) => {
  const [word, tone] = stateOf(task);
  const classes = ['plan-node', tone, task.state === 'planned' ? 'ghost' : '', chosen ? 'chosen' : '', faded ? 'faded' : ''];
  return (
    <div className={classes.join(' ')} data-task={task.name} data-state={task.state}>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <strong>{capabilityText(task.capability)}</strong>
      <span>
        {task.name}: {word}
        {task.attempts > 1 && `, attempt ${task.attempts}`}
      </span>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
});
TaskBox.displayName = 'TaskBox';

const RoundBox = memo(({ data: { epoch, tasks } }: NodeProps<RoundNode>) => {
  const done = tasks.filter(({ settledAt }) => settledAt !== null).length;
  return (
    <div className="plan-node round" data-round={epoch}>
      <strong>Round {epoch + 1}</strong>
      <span>
        {counted(tasks.length, 'task')}, {done} ended
      </span>
    </div>
  );
});
RoundBox.displayName = 'RoundBox';

const nodeTypes = { task: TaskBox, round: RoundBox };

/** A worker computes the layout, so that a large plan does not block the page. */
function usePlaces(wanted: ToPlace): Placed {
  const [places, setPlaces] = useState<Placed>({});
  const worker = useRef<Worker | null>(null);
  useEffect(() => {
    const own = new Worker(workerUrls['layout']!);
    own.onmessage = ({ data }: MessageEvent<Placed>) => setPlaces(data);
    worker.current = own;
    return () => own.terminate();
  }, []);
  const key = JSON.stringify(wanted);
  useEffect(() => worker.current?.postMessage(JSON.parse(key)), [key]);
  return places;
}

/** The plan as a graph: planned tasks are ghosts, and only events change their colours. */
export default function PlanGraph(props: GraphProps) {
  return (
    <ReactFlowProvider>
      <Graph {...props} />
    </ReactFlowProvider>
  );
}

function Graph({ run, selected, highlighted, onSelect }: GraphProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [moved, setMoved] = useState(false);
  const { fitView } = useReactFlow();
  const store = useStoreApi();
  const room = useStore(({ width, height }) => `${width} ${height}`);
  const planned = useMemo(() => [...run.tasks.values()].filter((task) => task.planned), [run]);
  const isCollapsed = useCallback((epoch: number) => planned.length > mostNodes && !opened.has(epoch), [planned.length, opened]);

  const shown = planned.filter(({ epoch }) => !isCollapsed(epoch));
  const folded = [...new Set(planned.map(({ epoch }) => epoch))].filter(isCollapsed);
  const toPlace: PlacedNode[] = [
    ...shown.map(({ id, epoch, needs }) => ({ id, round: epoch, needs: [...needs], ...size })),
    ...folded.map((epoch) => ({ id: `round-${epoch}`, round: epoch, needs: [], ...size })),
  ];
  const places = usePlaces({ nodes: toPlace });

  const nodes: (TaskNode | RoundNode)[] = [
    ...shown.map((task): TaskNode => ({
      id: task.id,
      type: 'task',
      position: places[task.id] ?? { x: 0, y: task.epoch * 140 },
      data: { task, chosen: task.id === selected, faded: highlighted !== null && !highlighted.has(task.id) },
      ...size,
    })),
    ...folded.map((epoch): RoundNode => ({
      id: `round-${epoch}`,
      type: 'round',
      position: places[`round-${epoch}`] ?? { x: 0, y: epoch * 140 },
      data: { epoch, tasks: planned.filter((task) => task.epoch === epoch) },
      ...size,
    })),
  ];
  const edges: Edge[] = shown.flatMap(({ id, needs }) =>
    needs.filter((need) => shown.some((task) => task.id === need)).map((need) => ({ id: `${need}>${id}`, source: need, target: id })),
  );

  // Follows a growing plan, and a window that changes its size, until the reader has moved the plan.
  const arrangement = JSON.stringify(places);
  useEffect(() => {
    if (!moved) void fitView({ padding: 0.12, maxZoom: 1 });
  }, [arrangement, room, moved, fitView]);

  if (planned.length === 0) return <p className="quiet plan-graph-empty">{run.end ? 'It ended without a plan.' : 'No plan yet.'}</p>;
  return (
    <div className="plan-graph" data-moved={moved}>
      <div
        className="plan-graph-canvas"
        role="img"
        aria-label={`Plan with ${counted(planned.length, 'task')}; the list of rounds holds the same tasks`}
      >
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          onNodeClick={(_event, node) => {
            if (node.type === 'round') setOpened(new Set([...opened, (node as RoundNode).data.epoch]));
            else onSelect(node.id);
          }}
          onMoveStart={(event) => {
            if (!event) return;
            // A fit that waits for the next frame would undo what the reader does now.
            store.setState({ fitViewQueued: false });
            setMoved(true);
          }}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          zoomOnScroll={false}
          preventScrolling={false}
          disableKeyboardA11y
          minZoom={0.2}
          maxZoom={1.5}
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={20} />
        </ReactFlow>
      </div>
      {(moved || opened.size > 0) && (
        <div className="row">
          {moved && (
            <button type="button" className="button small" onClick={() => setMoved(false)}>
              Fit the plan
            </button>
          )}
          {opened.size > 0 && (
            <button type="button" className="button small" onClick={() => setOpened(new Set())}>
              Collapse the rounds
            </button>
          )}
        </div>
      )}
    </div>
  );
}
