import { readFile } from 'node:fs/promises';

/** One finished request, as the API server's audit log has it. */
export interface AuditEntry {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly requestURI: string;
  readonly stageTimestamp: string;
  readonly stage: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** Requests of the functions, of all of them; the audit log names who asked. */
export async function readAudit(file: string | undefined): Promise<readonly AuditEntry[]> {
  if (file === undefined) throw new Error('the system must run with auditLog: true');
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as AuditEntry)
    .filter(({ user }) => user.username.startsWith('podless-'));
}

export const isWrite = ({ verb }: AuditEntry): boolean => WRITES.includes(verb);

/** `patch group/resource/status` */
export const rightUsed = ({ verb, objectRef = {} }: AuditEntry): string => {
  const { apiGroup = '', resource = '', subresource } = objectRef;
  return `${verb} ${apiGroup}/${resource}${subresource === undefined ? '' : `/${subresource}`}`;
};
