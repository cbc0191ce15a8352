import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Where the figures were found; nothing that names the machine. */
export interface Machine {
  readonly system: string;
  readonly cores: number;
  readonly processor: string;
  readonly memoryGigabytes: number;
  readonly node: string;
  readonly java: string;
  /** Versions of what the peers are made of. */
  readonly packages: Readonly<Record<string, string>>;
}

const packageFile = join(import.meta.dirname, '..', 'package.json');

export async function thisMachine(): Promise<Machine> {
  return {
    system: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGigabytes: Math.round(totalmem() / 1024 ** 3),
    node: process.versions.node,
    java: await javaVersion(),
    packages: (JSON.parse(readFileSync(packageFile, 'utf8')) as PackageFile).dependencies,
  };
}

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>;
}

async function javaVersion(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('java', ['--version']);
    return /\d[\w.+-]*/.exec(stdout)?.[0] ?? 'unknown';
  } catch {
    return 'none';
  }
}

export const describeMachine = (machine: Machine): string =>
  `${machine.cores} cores (${machine.processor}), ${machine.memoryGigabytes} GB, ${machine.system}, Node ${machine.node}, Java ${machine.java}`;
