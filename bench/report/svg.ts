/** Just enough SVG for two charts. A colour is a class, so that light and dark can differ. */
export type Colour = 'first' | 'second' | 'third';
export type Anchor = 'start' | 'middle' | 'end';

const STYLE = `
    text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328; }
    .title { font-size: 15px; font-weight: 600; }
    .quiet { fill: #59636e; font-size: 12px; }
    .grid { stroke: #59636e; stroke-opacity: 0.25; stroke-width: 1; }
    .axis { stroke: #59636e; stroke-width: 1; }
    .whisker { stroke: #1f2328; stroke-width: 1.5; }
    .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
    .area { fill: #59636e; fill-opacity: 0.15; }
    .edge { fill: none; stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 5 4; }
    .line.first { stroke: #0969da; } .fill.first { fill: #0969da; }
    .line.second { stroke: #bc4c00; } .fill.second { fill: #bc4c00; }
    .line.third { stroke: #8c959f; } .fill.third { fill: #8c959f; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .quiet { fill: #9198a1; }
      .grid, .axis, .edge { stroke: #9198a1; }
      .whisker { stroke: #f0f6fc; }
      .area { fill: #9198a1; }
      .line.first { stroke: #4493f8; } .fill.first { fill: #4493f8; }
      .line.second { stroke: #db6d28; } .fill.second { fill: #db6d28; }
    }`;

export const document = (width: number, height: number, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>Items a second of each peer, and the use of a cap that moves</title>
  <style>${STYLE}
  </style>
${parts.map((part) => `  ${part}`).join('\n')}
</svg>
`;

export const text = (
  x: number,
  y: number,
  content: string,
  { anchor = 'start', kind = '' }: { anchor?: Anchor; kind?: string } = {},
): string =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}"${kind && ` class="${kind}"`}>${escaped(content)}</text>`;

export const line = (kind: string, x1: number, y1: number, x2: number, y2: number): string =>
  `<line class="${kind}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;

export const bar = (colour: Colour, x: number, y: number, width: number, height: number): string =>
  `<rect class="fill ${colour}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="2"/>`;

export type Point = readonly [x: number, y: number];

export const path = (kind: string, points: readonly Point[], closed = false): string =>
  `<path class="${kind}" d="M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join('L')}${closed ? 'Z' : ''}"/>`;

const round = (value: number): number => Math.round(value * 10) / 10;

const escaped = (content: string): string =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Steps of 1, 2 or 5 times a power of ten: about as many as wanted. */
export function ticks(max: number, wanted: number): readonly number[] {
  const rough = max / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
  return Array.from({ length: Math.floor(max / step) + 1 }, (_, index) => index * step);
}
