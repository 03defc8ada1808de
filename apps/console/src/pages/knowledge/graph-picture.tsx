import type { EntityView } from '@conclave/contracts';
import { type KeyboardEvent, useRef, useState } from 'react';

interface Node {
  readonly key: string;
  readonly kind: 'entity' | 'insight';
  readonly id: string;
  readonly name: string;
  readonly title: string;
  /** Label of its edge; empty for insights. */
  readonly edge: string;
  readonly trust: number;
  readonly outgoing: boolean;
}

/** Most nodes in a picture: more would overlap. The table below shows all. */
const most = 14;
const [width, height] = [760, 400];
const [rx, ry] = [275, 150];
const lineLength = 17;

/** Neighbours, one node each; the edge shows the most trusted relation to it. */
function nodesOf({ id, relations, insights }: EntityView): readonly Node[] {
  const near = new Map<string, Node>();
  for (const { subject, object_entity: object, relation, trust } of relations) {
    const outgoing = subject.id === id;
    const other = outgoing ? object : subject;
    if (other.id === id || near.has(other.id)) continue;
    const title = `${subject.name} ${relation} ${object.name}, trust ${trust.toFixed(2)}`;
    near.set(other.id, { key: `e ${other.id}`, kind: 'entity', id: other.id, name: other.name, title, edge: relation, trust, outgoing });
  }
  const taught = insights.map((one): Node => ({
    ...{ key: `i ${one.id}`, kind: 'insight', id: one.id, name: one.text, edge: '', trust: one.trust, outgoing: false },
    title: `Insight: ${one.text} Trust ${one.trust.toFixed(2)}`,
  }));
  const entities = [...near.values()].slice(0, most - Math.min(taught.length, 4));
  return [...entities, ...taught.slice(0, most - entities.length)];
}

interface PictureProps {
  readonly entity: EntityView;
  readonly insight: string | null;
  readonly onEntity: (id: string) => void;
  readonly onInsight: (id: string) => void;
}

/** An entity in the middle with its neighbours around it; synthesis nodes are squares. Arrow keys move through the nodes. */
export function GraphPicture({ entity, insight, onEntity, onInsight }: PictureProps) {
  const nodes = nodesOf(entity);
  const [at, setAt] = useState(0);
  const drawn = useRef<(SVGGElement | null)[]>([]);
  if (nodes.length === 0) return null;
  const current = Math.min(at, nodes.length - 1);
  const open = (node: Node): void => (node.kind === 'entity' ? onEntity(node.id) : onInsight(node.id));
  const onKey = (event: KeyboardEvent, node: Node, n: number): void => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = (n + step + nodes.length) % nodes.length;
      setAt(next);
      drawn.current[next]?.focus();
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      open(node);
    }
  };
  return (
    <div className="knowledge-picture">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label={`${entity.name} and ${nodes.length} neighbours; arrow keys move between them`}
      >
        <g aria-hidden="true">
          {nodes.map((node, n) => {
            const { x, y } = place(n, nodes.length);
            return (
              <g key={node.key} className="knowledge-edge">
                <line
                  x1={width / 2}
                  y1={height / 2}
                  x2={x}
                  y2={y}
                  strokeWidth={1 + 2.5 * node.trust}
                  strokeDasharray={node.kind === 'insight' ? '3 4' : undefined}
                />
                {node.edge && (
                  <text x={width / 2 + (x - width / 2) * 0.55} y={height / 2 + (y - height / 2) * 0.55 - 4}>
                    {node.outgoing ? `${node.edge} →` : `← ${node.edge}`}
                  </text>
                )}
              </g>
            );
          })}
          <g className="knowledge-node centre">
            <circle cx={width / 2} cy={height / 2} r={46} />
            <Words text={entity.name} x={width / 2} y={height / 2} />
          </g>
        </g>
        {nodes.map((node, n) => {
          const { x, y } = place(n, nodes.length);
          return (
            <g
              key={node.key}
              ref={(element) => void (drawn.current[n] = element)}
              className={`knowledge-node ${node.kind}${node.id === insight ? ' chosen' : ''}`}
              role="button"
              aria-label={node.title}
              tabIndex={n === current ? 0 : -1}
              onClick={() => open(node)}
              onFocus={() => setAt(n)}
              onKeyDown={(event) => onKey(event, node, n)}
            >
              <title>{node.title}</title>
              {node.kind === 'entity' ? <circle cx={x} cy={y} r={38} /> : <rect x={x - 62} y={y - 27} width={124} height={54} rx={6} />}
              <Words text={node.name} x={x} y={y} />
            </g>
          );
        })}
      </svg>
      <p className="quiet">
        Circles are things, squares are insights; the thicker a line, the more it is trusted.{' '}
        {nodes.length < entity.relations.length + entity.insights.length && 'The table shows all.'}
      </p>
    </div>
  );
}

function place(n: number, count: number): { readonly x: number; readonly y: number } {
  const angle = (n / count) * 2 * Math.PI - Math.PI / 2 + (count === 2 ? Math.PI / 2 : 0);
  return { x: width / 2 + rx * Math.cos(angle), y: height / 2 + ry * Math.sin(angle) };
}

/** Up to three short lines in the middle of a node. */
function Words({ text, x, y }: { readonly text: string; readonly x: number; readonly y: number }) {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < lineLength) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  const shown = lines.slice(0, 3).map((line) => (line.length > lineLength ? `${line.slice(0, lineLength - 1)}…` : line));
  if (lines.length > 3) shown[2] = `${shown[2]!.slice(0, lineLength - 2)} …`;
  return (
    <text x={x} y={y - (shown.length - 1) * 7 + 4} aria-hidden="true">
      {shown.map((line, n) => (
        <tspan key={n} x={x} dy={n === 0 ? 0 : 14}>
          {line}
        </tspan>
      ))}
    </text>
  );
}
