import type { CacheReport } from '@conclave/contracts';
import { counted } from '../../components/figures.js';

const [height, base] = [190, 150];
const percent = (share: number): string => `${share * 100}%`;

/** Semantic lookups by the distance of the nearest earlier question: accepted ones, refused ones, and the threshold. */
export function Distances({ distances: { buckets, threshold, width: step } }: { readonly distances: CacheReport['distances'] }) {
  const all = buckets.reduce((sum, { accepted, refused }) => sum + accepted + refused, 0);
  const most = Math.max(1, ...buckets.map(({ accepted, refused }) => accepted + refused));
  // Shares of the width, so that the words keep their size on a phone.
  const bar = 1 / buckets.length;
  const edge = (threshold / step) * bar;
  const tall = (count: number): number => (count / most) * (base - 24);
  const accepted = buckets.reduce((sum, one) => sum + one.accepted, 0);
  return (
    <figure className="caches-distances">
      <div className="caches-chart" tabIndex={0} role="region" aria-label="Histogram">
        <svg
          height={height}
          role="img"
          aria-label={`${counted(all, 'semantic lookup')}: ${accepted} accepted, ${all - accepted} refused; threshold ${threshold}`}
        >
          <rect className="caches-near" x={0} y={0} width={percent(edge)} height={base} />
          {buckets.map((bucket, n) => (
            <g key={bucket.from}>
              <rect
                className="caches-accepted"
                x={percent((n + 0.05) * bar)}
                width={percent(0.9 * bar)}
                y={base - tall(bucket.accepted)}
                height={tall(bucket.accepted)}
              />
              <rect
                className="caches-refused"
                x={percent((n + 0.05) * bar)}
                width={percent(0.9 * bar)}
                y={base - tall(bucket.accepted + bucket.refused)}
                height={tall(bucket.refused)}
              />
            </g>
          ))}
          <line className="caches-axis" x1={0} x2="100%" y1={base} y2={base} />
          <line className="caches-threshold" x1={percent(edge)} x2={percent(edge)} y1={0} y2={base + 6} />
          <text x={percent(edge)} dx={4} y={14}>
            threshold {threshold}
          </text>
          {buckets
            .filter((_, n) => n % 4 === 0)
            .map(({ from }, n) => (
              <text key={from} x={percent(n * 4 * bar)} y={base + 18} className={n === 0 ? 'first' : ''}>
                {from}
                {n * 4 === buckets.length - 1 && '+'}
              </text>
            ))}
          <text x="100%" y={base + 34} className="last">
            cosine distance to the nearest earlier question
          </text>
        </svg>
      </div>
      <figcaption className="quiet">
        {all === 0
          ? 'No question was compared yet.'
          : `${counted(all, 'question')} compared: ${accepted} found the same question in other words.`}{' '}
        <span className="caches-key accepted">accepted</span> <span className="caches-key refused">refused: too far, or other words</span>
      </figcaption>
      {all > 0 && (
        <details>
          <summary>As a table</summary>
          <div className="table-box" tabIndex={0} role="region" aria-label="Distances">
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">Distance from</th>
                  <th scope="col" className="number">
                    Accepted
                  </th>
                  <th scope="col" className="number">
                    Refused
                  </th>
                </tr>
              </thead>
              <tbody>
                {buckets
                  .filter((one) => one.accepted + one.refused > 0)
                  .map((one) => (
                    <tr key={one.from}>
                      <th scope="row">
                        {one.from}
                        {one === buckets.at(-1) ? ' and more' : ''}
                      </th>
                      <td className="number">{one.accepted}</td>
                      <td className="number">{one.refused}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
    </figure>
  );
}
