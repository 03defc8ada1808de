/** A template in the plot: its cost on the horizontal axis, its accuracy on the vertical one. */
export interface PlottedTemplate {
  readonly name: string;
  /** 0 or more, in the unit of the axis. */
  readonly cost: number;
  /** Share of the questions, 0 to 1, with the ends of its 95 % interval. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

const [width, height] = [720, 440];
const area = { left: 70, right: 160, top: 40, bottom: 60 };

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const rounded = (value: number): string => String(Math.round(value * 10) / 10);

/** A round number for the end of an axis: 1, 2 or 5 times a power of ten, and at least the value. */
export function axisEnd(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((end) => end >= value)!;
}

/** An SVG picture of shares against costs; the whiskers are the 95 % intervals. */
export function plotOf(
  points: readonly PlottedTemplate[],
  { title, costs, shares }: { title: string; costs: string; shares: string },
): string {
  const end = axisEnd(Math.max(0, ...points.map(({ cost }) => cost)));
  const x = (cost: number): number => area.left + (cost / end) * (width - area.left - area.right);
  const y = (share: number): number => height - area.bottom - share * (height - area.top - area.bottom);
  const [x0, x1, y0, y1] = [x(0), x(end), y(0), y(1)];
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const lines = ticks.flatMap((part) => [
    `<line x1="${rounded(x0)}" x2="${rounded(x1)}" y1="${rounded(y(part))}" y2="${rounded(y(part))}" stroke="#ddd"/>`,
    `<text x="${rounded(x0 - 8)}" y="${rounded(y(part) + 4)}" text-anchor="end">${part * 100} %</text>`,
    `<text x="${rounded(x(part * end))}" y="${rounded(y0 + 18)}" text-anchor="middle">${Number((part * end).toPrecision(3))}</text>`,
  ]);
  const marks = points.flatMap(({ name, cost, share, low, high }) => [
    `<line x1="${rounded(x(cost))}" x2="${rounded(x(cost))}" y1="${rounded(y(low))}" y2="${rounded(y(high))}" stroke="#2b6cb0" stroke-opacity="0.5"/>`,
    `<circle cx="${rounded(x(cost))}" cy="${rounded(y(share))}" r="5" fill="#2b6cb0"/>`,
    `<text x="${rounded(x(cost) + 9)}" y="${rounded(y(share) + 4)}">${escaped(name)}</text>`,
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${area.left}" y="22" font-size="15">${escaped(title)}</text>`,
    ...lines,
    `<line x1="${rounded(x0)}" x2="${rounded(x1)}" y1="${rounded(y0)}" y2="${rounded(y0)}" stroke="black"/>`,
    `<line x1="${rounded(x0)}" x2="${rounded(x0)}" y1="${rounded(y0)}" y2="${rounded(y1)}" stroke="black"/>`,
    `<text x="${rounded((x0 + x1) / 2)}" y="${height - 16}" text-anchor="middle">${escaped(costs)}</text>`,
    `<text transform="translate(18 ${rounded((y0 + y1) / 2)}) rotate(-90)" text-anchor="middle">${escaped(shares)}</text>`,
    ...marks,
    '</svg>',
    '',
  ].join('\n');
}
