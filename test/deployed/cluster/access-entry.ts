import type { KeyHolder } from './caller.ts';

/** Lets one IAM role into one cluster: what `AWS::EKS::AccessEntry` says about it. */
export interface AccessEntry {
  readonly principalArn: string;
  readonly kubernetesGroups: readonly string[];
  /** May hold `{{SessionName}}`, `{{SessionNameRaw}}` and `{{AccountID}}`. Default: made from the role's ARN. */
  readonly username?: string;
}

export interface KubernetesUser {
  readonly username: string;
  readonly groups: readonly string[];
}

const reserved = /^(system|eks|aws|amazon|iam):/;
const roleArn = /^arn:aws[\w-]*:iam::(\d{12}):role\/(?:.*\/)?([^/]+)$/;

/** Throws for entries which EKS would refuse to create. */
export function checkAccessEntries(entries: readonly AccessEntry[]): void {
  const principals = new Set<string>();
  for (const { principalArn, kubernetesGroups, username } of entries) {
    const say = (problem: string) => new Error(`access entry of ${principalArn}: ${problem}`);
    if (!roleArn.test(principalArn)) throw say('principal must be the ARN of a role');
    if (principals.has(principalArn)) throw say('a principal can have one entry per cluster');
    principals.add(principalArn);
    const name = [username ?? '', ...kubernetesGroups].find((one) => reserved.test(one));
    if (name !== undefined)
      throw say(`names may not begin with system:, eks:, aws:, amazon: or iam:, got ${name}`);
    if (username !== undefined && /^[^:]*\{\{SessionName/.test(username))
      throw say(`there must be a colon before {{SessionName}}, got ${username}`);
  }
}

/** Who the holder of a key is in the cluster, or undefined if no entry lets the role in. */
export function userOf(
  { roleArn: arn, sessionName }: KeyHolder,
  entries: readonly AccessEntry[],
): KubernetesUser | undefined {
  const entry = entries.find(({ principalArn }) => principalArn === arn);
  if (entry === undefined) return undefined;
  const [, account = '', role = ''] = roleArn.exec(arn) ?? [];
  const template = entry.username ?? `arn:aws:sts::${account}:assumed-role/${role}/{{SessionName}}`;
  const values: Readonly<Record<string, string>> = {
    AccountID: account,
    SessionName: sessionName.replaceAll('@', '-'),
    SessionNameRaw: sessionName,
  };
  return {
    username: template.replace(/\{\{(\w+)\}\}/g, (whole, name) => values[name] ?? whole),
    groups: [...entry.kubernetesGroups, 'system:authenticated'],
  };
}
