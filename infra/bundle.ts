import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { codeOf, type Operator } from '../runtime/operator.ts';
import { syncFolder, writeIfChanged } from './sync-folder.ts';

const root = join(import.meta.dirname, '..');

/** Folders of the project that code reads while it runs, by the name of the bundle they are part of. */
const carriedFolders: Readonly<Record<string, readonly string[]>> = { helm: ['charts'] };

/** Where bundles go unless told otherwise: a folder each. */
export const defaultBundleFolder = join(root, 'dist');

export interface Bundle {
  readonly name: string;
  /** All code, without source maps. */
  readonly bytes: number;
  /** npm packages with code in it, and `podless` for our own, sorted. */
  readonly contents: readonly string[];
}

export interface BundleOptions {
  readonly name: string;
  /** Default: the handler of the function of that name. */
  readonly entry?: string;
  /** Default: `dist`. */
  readonly folder?: string;
}

/**
 * Writes the code of one function to `<folder>/<name>`, and what is in it to `<folder>/<name>.meta.json`. The same sources
 * give the same bytes, so an unchanged function is not deployed again.
 */
export async function bundle({
  name,
  entry = join(root, 'functions', name, 'handler.ts'),
  folder = defaultBundleFolder,
}: BundleOptions): Promise<Bundle> {
  const outdir = join(folder, name);
  const { outputFiles, metafile } = await build({
    ...buildOptions,
    entryPoints: { index: entry },
    outdir,
  });
  const carried = (carriedFolders[name] ?? []).flatMap(filesIn);
  const built = outputFiles.map(
    ({ path, contents }) => [relative(outdir, path), contents] as const,
  );
  syncFolder(outdir, new Map([...built, ...carried]));
  writeIfChanged(`${outdir}.meta.json`, Buffer.from(JSON.stringify(metafile)));
  const code = outputFiles.filter(({ path }) => path.endsWith('.mjs'));
  return {
    name,
    bytes: code.reduce((sum, { contents }) => sum + contents.byteLength, 0),
    contents: contentsOf(metafile),
  };
}

const buildOptions = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  // What only some requests need is loaded when they come.
  splitting: true,
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunk-[hash]',
  platform: 'node',
  target: 'node24',
  // ES modules first: only those can be tree-shaken.
  mainFields: ['module', 'main'],
  minify: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  // For packages that require what Node has: a module has no require of its own.
  banner: {
    js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
  },
  logLevel: 'error',
  metafile: true,
  write: false,
} as const satisfies BuildOptions;

/** Path, from the root of the project, and contents of every file. */
const filesIn = (folder: string): readonly (readonly [string, Uint8Array])[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => [relative(root, path), readFileSync(path)]);

/** One for each folder of code; all watchers share theirs. */
export const bundleNamesOf = (operators: readonly Operator[]): readonly string[] => [
  'watcher',
  'resync',
  ...new Set(operators.map(codeOf)),
];

/** Every bundle, one after the other: each build uses all cores already. */
export async function bundleAll(
  names: readonly string[],
  folder?: string,
): Promise<readonly Bundle[]> {
  const bundles: Bundle[] = [];
  for (const name of names) bundles.push(await bundle({ name, ...(folder ? { folder } : {}) }));
  return bundles;
}

function contentsOf({ outputs }: Metafile): readonly string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const used = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return [...new Set(used.map(([path]) => packageOf(path)))].sort();
}

/** The innermost package a file is in. */
function packageOf(path: string): string {
  const [, inside] = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return inside ?? 'podless';
}
