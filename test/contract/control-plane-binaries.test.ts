import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  freePort,
  kubernetesVersion,
  type Progress,
  resolveBinaries,
} from '../../local/control-plane/index.ts';
import { currentPlatform } from '../../local/control-plane/versions.ts';

const run = promisify(execFile);
const { os, arch } = currentPlatform();
const api = ['etcd', 'kube-apiserver'] as const;
const cacheName = `podless/control-plane/${kubernetesVersion}-${os}-${arch}`;

let folder: string;
let env: NodeJS.ProcessEnv;
let server: Server | undefined;

/** A machine of its own: an empty cache, no internet, no Go. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'podless-test-'));
  env = {
    HOME: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    PATH: join(folder, 'bin'),
    PODLESS_ENVTEST_URL: `http://127.0.0.1:${await freePort()}/envtest-releases.yaml`,
  };
});

afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function executable(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

const cached = (name: string) => join(folder, 'cache', cacheName, name);
const filesInCache = () => readdirSync(join(folder, 'cache', cacheName));

test('the Go module builds the version that the code names', () => {
  const goMod = readFileSync(
    join(import.meta.dirname, '../../local/control-plane/go/go.mod'),
    'utf8',
  );
  expect(/k8s\.io\/kubernetes v(\S+)/.exec(goMod)?.[1]).toBe(kubernetesVersion);
});

describe('KUBEBUILDER_ASSETS', () => {
  test('comes before the cache', async () => {
    for (const name of api) executable(cached(name), 'cached');
    env.KUBEBUILDER_ASSETS = join(folder, 'assets');
    for (const name of api) executable(join(folder, 'assets', name), 'asset');
    expect(await resolveBinaries(api, { env })).toEqual({
      etcd: join(folder, 'assets', 'etcd'),
      'kube-apiserver': join(folder, 'assets', 'kube-apiserver'),
    });
  });

  test('fails with the name of the folder if it has no API server', async () => {
    env.KUBEBUILDER_ASSETS = join(folder, 'nothing-here');
    await expect(resolveBinaries(api, { env })).rejects.toThrow(
      `KUBEBUILDER_ASSETS is ${join(folder, 'nothing-here')}, but there is no executable etcd in it`,
    );
  });

  test('may lack the others: they come from the next place', async () => {
    env.KUBEBUILDER_ASSETS = join(folder, 'assets');
    for (const name of api) executable(join(folder, 'assets', name), 'asset');
    executable(cached('kwok'), 'cached');
    const found = await resolveBinaries([...api, 'kwok'], { env });
    expect(found.kwok).toBe(cached('kwok'));
  });
});

describe('the release archive', () => {
  /** Serves an archive of two fake binaries as the given version, and its index. */
  async function serve(version: string, hash?: string): Promise<void> {
    for (const name of api)
      executable(join(folder, 'src/controller-tools/envtest', name), `fake ${name}`);
    const archive = join(folder, 'archive.tar.gz');
    await run('tar', ['-czf', archive, '-C', join(folder, 'src'), 'controller-tools']);
    const bytes = readFileSync(archive);
    const sha512 = hash ?? createHash('sha512').update(bytes).digest('hex');
    const name = `envtest-${version}-${os}-${arch}.tar.gz`;
    const older = `  v1.2.3:\n    envtest-v1.2.3-${os}-${arch}.tar.gz: { hash: x, selfLink: /none }\n`;
    const index = `releases:\n${older}  ${version}:\n    ${name}:\n      hash: ${sha512}\n      selfLink: ./${name}\n`;
    server = createServer((request, response) => {
      if (request.url === '/envtest-releases.yaml') response.end(index);
      else if (request.url === `/${name}`) response.end(bytes);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    env.PODLESS_ENVTEST_URL = `http://127.0.0.1:${port}/envtest-releases.yaml`;
    // tar is found there, go is not.
    env.PATH = '/usr/bin:/bin';
  }

  test('is unpacked into the cache, and then not asked for again', async () => {
    await serve(`v${kubernetesVersion}`);
    const found = await resolveBinaries(api, { env });
    expect(found).toEqual({ etcd: cached('etcd'), 'kube-apiserver': cached('kube-apiserver') });
    expect(readFileSync(found['kube-apiserver'], 'utf8')).toBe('fake kube-apiserver');
    expect(filesInCache().sort()).toEqual(['etcd', 'kube-apiserver']);
    server?.close();
    expect(await resolveBinaries(api, { env })).toEqual(found);
  });

  test('of another patch of the same minor version will do', async () => {
    await serve(kubernetesVersion.replace(/^(\d+\.\d+)\..*/, 'v$1.0'));
    const found = await resolveBinaries(api, { env });
    expect(readFileSync(found.etcd, 'utf8')).toBe('fake etcd');
  });

  test('fails if its checksum is not that of the index', async () => {
    await serve(`v${kubernetesVersion}`, 'f00d');
    await expect(resolveBinaries(api, { env })).rejects.toThrow(
      /SHA-512 [0-9a-f]{128}, expected f00d; nothing was installed/,
    );
    expect(filesInCache()).toEqual([]);
  });
});

describe('a build with Go', () => {
  /** A go command that compiles nothing: it counts its runs and writes files where Go would. */
  const fakeGo = (build: string) => `#!/bin/sh
    PATH=/usr/bin:/bin
    case "$1" in
    list) echo one; echo two; echo three;;
    build)
      echo run >>"$HOME/builds"
      while [ "$1" != -o ]; do shift; done
      ${build}
      for file in server kube-apiserver; do echo "built" >"$2$file"; chmod +x "$2$file"; done;;
    install) echo kwok >"$GOBIN/kwok"; chmod +x "$GOBIN/kwok";;
    esac
  `;

  test('fills the cache and says how far it is', async () => {
    executable(join(folder, 'bin/go'), fakeGo('echo one >&2; sleep 3'));
    const seen: Progress[] = [];
    const found = await resolveBinaries([...api, 'kwok'], {
      env,
      report: (progress) => seen.push(progress),
    });
    expect(found).toEqual({
      etcd: cached('etcd'),
      'kube-apiserver': cached('kube-apiserver'),
      kwok: cached('kwok'),
    });
    expect(filesInCache().sort()).toEqual(['etcd', 'kube-apiserver', 'kwok']);
    expect(seen).toContainEqual({
      step: 'building etcd, kube-apiserver',
      detail: '1 of at most 3 packages',
      fraction: 1 / 3,
      elapsedSeconds: expect.any(Number),
    });
  });

  test('is done once when two ask at the same time', async () => {
    executable(join(folder, 'bin/go'), fakeGo('sleep 1'));
    const index = join(import.meta.dirname, '../../local/control-plane/index.ts');
    const script = `
      import { resolveBinaries } from ${JSON.stringify(index)};
      console.log((await resolveBinaries(['etcd', 'kube-apiserver'])).etcd);`;
    const resolve = () => run(process.execPath, ['--input-type=module', '-e', script], { env });
    const both = await Promise.all([resolve(), resolve()]);
    expect(both.map(({ stdout }) => stdout.trim())).toEqual([cached('etcd'), cached('etcd')]);
    expect(readFileSync(join(folder, 'builds'), 'utf8')).toBe('run\n');
    expect(filesInCache().sort()).toEqual(['etcd', 'kube-apiserver']);
  });

  test('goes on after a process that died with the lock', async () => {
    executable(join(folder, 'bin/go'), fakeGo(''));
    const { stdout: deadPid } = await run(process.execPath, ['-p', 'process.pid']);
    executable(cached('.lock'), deadPid);
    expect(await resolveBinaries(api, { env })).toHaveProperty('etcd', cached('etcd'));
  });

  test('ends with all its processes on abort', async () => {
    // An argument that is ours alone, to find the process again.
    const marker = `60.${process.pid}${Date.now()}`;
    executable(join(folder, 'bin/go'), fakeGo(`sleep ${marker} & sleep ${marker}`));
    const abort = new AbortController();
    const resolving = resolveBinaries(api, {
      env,
      signal: abort.signal,
      report: ({ step }) => {
        if (step.startsWith('building')) setTimeout(() => abort.abort(new Error('enough')), 500);
      },
    });
    await expect(resolving).rejects.toThrow('enough');
    const { stdout } = await run('ps', ['-A', '-o', 'stat=,args=']);
    const left = stdout
      .split('\n')
      .filter((line) => line.includes(marker) && !line.startsWith('Z'));
    expect(left).toEqual([]);
    expect(filesInCache()).toEqual([]);
  });

  test('fails with the words of the compiler', async () => {
    executable(join(folder, 'bin/go'), fakeGo('echo "no space left on device" >&2; exit 1'));
    await expect(resolveBinaries(api, { env })).rejects.toThrow(
      /go build failed with exit code 1:\nno space left/,
    );
    expect(filesInCache()).toEqual([]);
  });
});

test('fails with three ways out if there is neither a download nor Go', async () => {
  const message = await resolveBinaries(api, { env }).then(
    () => 'resolved',
    (error: Error) => error.message,
  );
  expect(message).toContain(`no etcd, kube-apiserver for a local Kubernetes ${kubernetesVersion}`);
  expect(message).toContain('ECONNREFUSED');
  expect(message).toContain('no go command on the PATH');
  for (const way of ['set KUBEBUILDER_ASSETS', 'internet access', 'install Go 1.26']) {
    expect(message).toContain(way);
  }
});
