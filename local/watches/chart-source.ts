import { existsSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, normalize, sep } from 'node:path';

/** Only what is in it goes to Lambda with the code. */
const FOLDER = 'charts';

/** What is wrong with the path of a chart: `must ...`. */
export function chartProblem(chart: unknown, root: string): string | undefined {
  if (typeof chart !== 'string' || chart === '') return `must be the path of a chart in ${FOLDER}/`;
  const inside = !isAbsolute(chart) && normalize(chart).startsWith(`${FOLDER}${sep}`);
  if (!inside) return `must be in ${FOLDER}/, without a way out of it`;
  const path = join(root, chart);
  if (!existsSync(path)) return 'must exist';
  const folder = join(realpathSync(root), FOLDER, sep);
  if (!realpathSync(path).startsWith(folder)) return `must not lead out of ${FOLDER}/ by a link`;
  if (statSync(path).isDirectory()) {
    return existsSync(join(path, 'Chart.yaml')) ? undefined : 'must have a Chart.yaml in it';
  }
  return chart.endsWith('.tgz') ? undefined : 'must be a folder or a .tgz archive';
}
