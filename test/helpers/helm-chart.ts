import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface TestChart {
  readonly folder: string;
  /** Puts other files in the place of all. */
  replace(files: ChartFiles): Promise<void>;
  remove(): Promise<void>;
}

/** By path; an object is written as JSON. */
export type ChartFiles = Readonly<Record<string, string | object>>;

/** A chart on disk, with a Chart.yaml unless there is one. */
export async function createTestChart(files: ChartFiles): Promise<TestChart> {
  const root = await mkdtemp(join(tmpdir(), 'podless-test-chart-'));
  const folder = join(root, 'chart');
  const replace = async (next: ChartFiles): Promise<void> => {
    await rm(folder, { recursive: true, force: true });
    const own = { 'Chart.yaml': { apiVersion: 'v2', name: 'tested', version: '1.0.0' } };
    for (const [path, content] of Object.entries({ ...own, ...next })) {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    }
  };
  await replace(files);
  return { folder, replace, remove: () => rm(root, { recursive: true, force: true }) };
}

/** A ConfigMap with a value in it, the smallest release there is. */
export const configMapTemplate = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  colour: {{ .Values.colour | default "red" | quote }}
`;

export const serviceTemplate = `apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector: { app: {{ .Release.Name }} }
  ports:
    - port: {{ .Values.port | default 80 }}
`;

/** A Job that runs at a step of the release; without controllers it never ends. */
export const hookTemplate = (hooks: string): string => `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-hook
  annotations:
    helm.sh/hook: ${hooks}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: hook, image: busybox }]
`;
