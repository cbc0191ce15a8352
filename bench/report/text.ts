import { verdictOn } from '../figures.ts';
import type { PartResult, ResultTable } from '../part.ts';
import { figuresIn, type Results, verdictWords } from '../results.ts';
import { figureCells } from './format.ts';

/** The tables of one part, as soon as it is done. */
export const partText = ({ tables }: PartResult): string => tables.map(tableText).join('\n');

export const figureTable = (results: Results): ResultTable => ({
  title: 'Figures',
  columns: ['figure', 'must reach', 'got', 'spread', ''],
  rows: figuresIn(results).map((figure) => [
    figure.name,
    ...figureCells(figure),
    verdictWords[verdictOn(figure)],
  ]),
});

export function tableText({ title, columns, rows, note }: ResultTable): string {
  const all = [columns, ...rows];
  const widths = columns.map((_, column) =>
    Math.max(...all.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, column) => pad(cell, column, widths[column] ?? 0)).join('  ')}`.trimEnd();
  return [title, ...all.map(line), ...(note === undefined ? [] : [`  ${note}`]), ''].join('\n');
}

/** Words to the left, numbers to the right. */
const pad = (cell: string, column: number, width: number): string =>
  column > 0 && /^[≥≤-]?\s?[\d.,]+( \S+)?$/.test(cell) ? cell.padStart(width) : cell.padEnd(width);
