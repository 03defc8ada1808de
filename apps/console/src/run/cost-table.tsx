import type { RunView } from '@conclave/contracts';
import { costText, counted, countText } from '../components/figures.js';

interface Line {
  readonly name: string;
  readonly settled: number;
  readonly inFlight: number;
  readonly limit: number | null;
  readonly show: (value: number) => string;
}

/** The settled cost, the most that tasks in flight may still spend, and what is left: three figures that are never added up. */
export function CostTable({ record }: { readonly record: RunView }) {
  const {
    usage: { total, inFlight, recorded, openCalls },
    limits,
  } = record;
  const isPriced = limits.cost !== null || total.cost > 0;
  const lines: readonly Line[] = [
    ...(isPriced ? [{ name: 'Cost', settled: total.cost, inFlight: inFlight.cost ?? 0, limit: limits.cost, show: costText }] : []),
    { name: 'Calls', settled: total.calls, inFlight: inFlight.calls, limit: limits.model_calls, show: countText },
    { name: 'Tokens', settled: total.prompt + total.completion, inFlight: inFlight.tokens, limit: limits.tokens, show: countText },
  ];
  const beyond = recorded && (recorded.calls > total.calls || recorded.cost > total.cost) ? recorded : null;
  return (
    <div className="cost">
      <table className="table cost-table">
        <caption className="visually-hidden">Cost of the run</caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">What</span>
            </th>
            <th scope="col" className="number">
              Settled
            </th>
            <th scope="col" className="number">
              {record.terminal ? 'In flight' : 'In flight, at most'}
            </th>
            <th scope="col" className="number">
              Left
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ name, settled, inFlight: open, limit, show }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="number" data-cost={`${name} settled`}>
                {show(settled)}
              </td>
              <td className="number" data-cost={`${name} in flight`}>
                {record.terminal ? '-' : show(open)}
              </td>
              <td className="number" data-cost={`${name} left`}>
                {limit === null ? 'no limit' : `${show(Math.max(0, limit - settled))} of ${show(limit)}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {total.estimated && <p className="quiet">A model server sent no usage; its tokens are estimated.</p>}
      {openCalls > 0 && (
        <p className="quiet">
          {counted(openCalls, 'call')} had not ended when the run did; Settled does not include {openCalls === 1 ? 'it' : 'them'}.
        </p>
      )}
      {beyond && (
        <p className="quiet">
          All calls of the run, also those that were discarded or ended after it: {countText(beyond.calls)}, cost {costText(beyond.cost)};{' '}
          {costText(Math.max(0, beyond.cost - total.cost))} of it discarded.
        </p>
      )}
    </div>
  );
}
