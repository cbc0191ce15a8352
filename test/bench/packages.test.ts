import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly version: string; readonly integrity?: string; readonly resolved?: string }
    >
  >;
}

const lockIn = (folder: string): Lock =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../..', folder, 'package-lock.json'), 'utf8'));
const SDK = 'node_modules/@aws-sdk/client-dynamodb';

describe('the packages of the bench', () => {
  const packages = Object.entries(lockIn('bench').packages).filter(([path]) => path !== '');

  it('are pinned by what is in them, not by where they came from', () => {
    expect(packages.length).toBeGreaterThan(10);
    expect(packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
    expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });

  it('give the peers the same version of the SDK that podless runs on', () => {
    expect(lockIn('bench').packages[SDK]?.version).toBe(lockIn('.').packages[SDK]?.version);
  });
});
