import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AuthenticationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiRequest } from '../../local/control-plane/api-request.ts';
import {
  type ControlPlane,
  resolveBinaries,
  startControlPlane,
} from '../../local/control-plane/index.ts';

const run = promisify(execFile);

/** A machine without the binaries may have to build them first. */
const coldStartMs = 15 * 60_000;

const users = [{ name: 'reader', groups: ['podless:readers', 'podless:all'] }];

describe('a running control plane', () => {
  let plane: ControlPlane;

  beforeAll(async () => {
    plane = await startControlPlane({ users, auditLog: true });
  }, coldStartMs);

  afterAll(() => plane?.stop());

  function client<T extends typeof CoreV1Api | typeof AuthenticationV1Api>(user: string, api: T) {
    const config = new KubeConfig();
    config.loadFromString(plane.kubeconfig(user));
    return config.makeApiClient(api as never) as InstanceType<T>;
  }

  const as = (token: string, path: string) =>
    apiRequest({ server: plane.server, ca: plane.ca, token }, { path });

  test('knows each user by name and groups', async () => {
    const review = await client('reader', AuthenticationV1Api).createSelfSubjectReview({
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    expect(review.status?.userInfo).toMatchObject({
      username: 'reader',
      groups: ['podless:readers', 'podless:all', 'system:authenticated'],
    });
  });

  test('calls itself by its real version', async () => {
    const { body } = await as(plane.token('admin'), '/version');
    expect(JSON.parse(body)).toMatchObject({ gitVersion: expect.stringMatching(/^v1\.36\.\d+$/) });
  });

  test('refuses an unknown token', async () => {
    expect(await as('made-up', '/api/v1/namespaces')).toMatchObject({ status: 401 });
  });

  test('refuses what RBAC does not allow', async () => {
    expect(await as(plane.token('reader'), '/api/v1/namespaces')).toMatchObject({ status: 403 });
    expect(await as(plane.token('admin'), '/api/v1/namespaces')).toMatchObject({ status: 200 });
  });

  test('fails with the known names when asked for an unknown user', () => {
    expect(() => plane.kubeconfig('nobody')).toThrow(
      'no user nobody in this control plane, only admin, reader',
    );
  });

  test('is trusted by kubectl', async ({ skip }) => {
    const found = await run('kubectl', ['version', '--client']).catch(() => undefined);
    if (!found) skip('no kubectl on this machine');
    const file = join(plane.dir, 'test.kubeconfig');
    writeFileSync(file, plane.kubeconfig('admin'));
    const { stdout } = await run('kubectl', [
      '--kubeconfig',
      file,
      'get',
      'namespace',
      'default',
      '-o',
      'name',
    ]);
    expect(stdout.trim()).toBe('namespace/default');
  });

  test('writes down who changed what', async () => {
    await client('admin', CoreV1Api).createNamespace({ body: { metadata: { name: 'audited' } } });
    const events = readFileSync(plane.auditLogFile ?? '', 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const writes = events.filter(
      ({ verb, objectRef }) => verb === 'create' && objectRef?.name === 'audited',
    );
    expect(writes.map(({ user, stage }) => [user.username, stage])).toEqual([
      ['admin', 'ResponseComplete'],
    ]);
  });

  test('keeps address, tokens and data when the API server restarts, also after a crash', async () => {
    const core = client('admin', CoreV1Api);
    await core.createNamespacedConfigMap({
      namespace: 'default',
      body: { metadata: { name: 'kept' }, data: { colour: 'green' } },
    });
    for (const crash of [false, true]) {
      const before = plane.apiServerPid;
      if (crash) process.kill(before, 'SIGKILL');
      await plane.restartApiServer();
      expect(plane.apiServerPid).not.toBe(before);
      const kept = await client('admin', CoreV1Api).readNamespacedConfigMap({
        namespace: 'default',
        name: 'kept',
      });
      expect(kept.data).toEqual({ colour: 'green' });
    }
  }, 60_000);
});

describe('the end of a control plane', () => {
  test(
    'stop leaves no process and no folder',
    async () => {
      const plane = await startControlPlane({ users });
      const pids = await processesIn(plane.dir);
      expect(pids.length).toBeGreaterThanOrEqual(2);
      await Promise.all([plane.stop(), plane.stop()]);
      expect(await processesIn(plane.dir)).toEqual([]);
      expect(existsSync(plane.dir)).toBe(false);
    },
    coldStartMs,
  );

  test(
    'SIGKILL to the parent ends the children and removes the folder',
    async () => {
      const index = join(import.meta.dirname, '../../local/control-plane/index.ts');
      const script = `
      import { startControlPlane } from ${JSON.stringify(index)};
      const plane = await startControlPlane({ users: [] });
      console.log(plane.dir);`;
      const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const dir = await new Promise<string>((resolve, reject) => {
        parent.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()));
        parent.once('exit', (code) => reject(new Error(`the script ended with ${code}`)));
      });
      expect((await processesIn(dir)).length).toBeGreaterThanOrEqual(2);
      parent.kill('SIGKILL');
      await expect.poll(() => processesIn(dir), { timeout: 10_000 }).toEqual([]);
      await expect.poll(() => existsSync(dir), { timeout: 10_000 }).toBe(false);
    },
    coldStartMs,
  );

  test(
    'an abort during the start leaves no process',
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'podless-test-'));
      const abort = new AbortController();
      const start = startControlPlane({
        users,
        dir,
        signal: abort.signal,
        report: ({ step }) => {
          if (step.startsWith('starting')) setTimeout(() => abort.abort(new Error('enough')), 300);
        },
      });
      await expect(start).rejects.toThrow(/enough|aborted/);
      expect(await processesIn(dir)).toEqual([]);
      rmSync(dir, { recursive: true });
    },
    coldStartMs,
  );

  test(
    'fails with the last log lines when a process ends early',
    async () => {
      const start = startControlPlane({ users, binaries: { 'kube-apiserver': '/bin/ls' } });
      await expect(start).rejects.toThrow(
        /kube-apiserver ended with exit code 2.*last log lines:\n.*etcd-servers/s,
      );
    },
    coldStartMs,
  );

  test(
    'takes other ports when someone was faster',
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'podless-test-'));
      const { etcd } = await resolveBinaries(['etcd']);
      const script = `#!/bin/sh
      if mkdir "$0.tried" 2>/dev/null; then echo 'bind: address already in use'; exit 1; fi
      exec '${etcd}' "$@"`;
      writeFileSync(join(dir, 'etcd'), script, { mode: 0o755 });
      const plane = await startControlPlane({ users, binaries: { etcd: join(dir, 'etcd') } });
      await plane.stop();
      expect(existsSync(join(dir, 'etcd.tried'))).toBe(true);
      rmSync(dir, { recursive: true });
    },
    coldStartMs,
  );

  test(
    'a stop during a restart leaves no process',
    async () => {
      const plane = await startControlPlane({ users });
      const restart = plane.restartApiServer();
      await plane.stop();
      await expect(restart).rejects.toThrow('the control plane was stopped');
      expect(await processesIn(plane.dir)).toEqual([]);
    },
    coldStartMs,
  );

  test('fails on users that a token file cannot hold', async () => {
    const twice = [...users, ...users];
    await expect(startControlPlane({ users: twice })).rejects.toThrow('user reader is there twice');
    const comma = [{ name: 'a', groups: ['b,c'] }];
    await expect(startControlPlane({ users: comma })).rejects.toThrow('got "b,c"');
  });
});

test(
  'a folder that the caller names keeps its data from one run to the next',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'podless-test-'));
    try {
      const first = await startControlPlane({ users, dir });
      const access = { server: first.server, ca: first.ca, token: first.token('admin') };
      const body = { metadata: { name: 'lasting' } };
      await apiRequest(access, { method: 'POST', path: '/api/v1/namespaces', body });
      await first.stop();
      const second = await startControlPlane({ users, dir });
      try {
        const again = { server: second.server, ca: second.ca, token: second.token('admin') };
        const answer = await apiRequest(again, { path: '/api/v1/namespaces/lasting' });
        expect(answer.status).toBe(200);
      } finally {
        await second.stop();
      }
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
  coldStartMs,
);

/**
 * Living processes that name the folder in their arguments, the guard that would remove it
 * included.
 */
async function processesIn(folder: string): Promise<string[]> {
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'pid=,stat=,args=']);
  return stdout.split('\n').filter((line) => line.includes(folder) && !/^\s*\d+\s+Z/.test(line));
}
