import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MIN_JAVA = 17;

/** The java to run, or what is missing. */
export type JavaTools =
  | { readonly ok: true; readonly java: string }
  | { readonly ok: false; readonly missing: string };

/** Looks for Java 17 or newer, and for Maven unless all is fetched already. */
export async function findJavaTools(
  env: NodeJS.ProcessEnv,
  needsMaven: boolean,
): Promise<JavaTools> {
  const java = env['JAVA_HOME'] ? join(env['JAVA_HOME'], 'bin', 'java') : 'java';
  const [version, maven] = await Promise.all([javaVersion(java, env), answers('mvn', env)]);
  if (version === undefined) return { ok: false, missing: `Java ${MIN_JAVA} or newer (${java})` };
  if (version < MIN_JAVA) {
    return { ok: false, missing: `Java ${MIN_JAVA} or newer (${java} is Java ${version})` };
  }
  return maven || !needsMaven ? { ok: true, java } : { ok: false, missing: 'Maven (mvn)' };
}

async function javaVersion(java: string, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  try {
    // `-version` writes to standard error, `--version` to standard output: `openjdk 17.0.15 2025-04-15`.
    const { stdout } = await promisify(execFile)(java, ['--version'], { env });
    const major = /\s(\d+)[.\s-]/.exec(stdout)?.[1];
    return major === undefined ? undefined : Number(major);
  } catch {
    return undefined;
  }
}

async function answers(command: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await promisify(execFile)(command, ['--version'], { env });
    return true;
  } catch {
    return false;
  }
}
