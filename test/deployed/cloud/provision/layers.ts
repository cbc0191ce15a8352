import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { environmentNames } from '../../../../runtime/aws/environment.ts';
import type { Stack, StackResource } from '../template/stack.ts';
import type { AssetOf } from './assets.ts';

const LAYER = 'AWS::Lambda::LayerVersion';

/** Programs a layer may bring, and how a function is told that one is not at its place below /opt. */
const programs = [{ path: 'helm/helm', variable: environmentNames.helm }] as const;

/**
 * What the layers of a function bring it. On Lambda they are unpacked to /opt, where a test may not write: so a function is
 * told where its programs are. One without the layer has neither the program nor the variable.
 */
export function layerEnvironment(
  { fields }: StackResource,
  stack: Stack,
  assetOf: AssetOf,
): Readonly<Record<string, string>> {
  const arns = fields.has('Layers') ? fields.texts('Layers') : [];
  const folders = arns.map((arn) => unpackedLayer(stack.byArn(LAYER, arn), fields.path, assetOf));
  const found = folders.flatMap((folder) =>
    programs
      .map(({ path, variable }) => [variable, join(folder, path)] as const)
      .filter(([, path]) => existsSync(path)),
  );
  if (arns.length > 0 && found.length === 0) {
    throw new Error(`${fields.path}.Layers: none of them holds ${programs[0].path}`);
  }
  return Object.fromEntries(found);
}

/** Beside its archive, which goes with the synthesized template; once, and only the programs, as a layer is large. */
function unpackedLayer({ fields }: StackResource, user: string, assetOf: AssetOf): string {
  const archive = assetOf(fields.fields('Content'));
  const folder = `${archive}.unpacked`;
  const wanted = new Set<string>(programs.map(({ path }) => path));
  if (existsSync(folder)) return folder;
  const files = unzipSync(readFileSync(archive), { filter: ({ name }) => wanted.has(name) });
  if (Object.keys(files).length === 0) throw new Error(`${user}: ${archive} holds no program`);
  // Of its own: another file may unpack the same at the same time.
  const draft = mkdtempSync(`${folder}.draft-`);
  for (const [name, bytes] of Object.entries(files)) {
    const path = join(draft, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    chmodSync(path, 0o755);
  }
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
