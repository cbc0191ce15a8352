import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { STSClient } from '@aws-sdk/client-sts';
import { expect, onTestFinished, test } from 'vitest';
import { openSession } from '../../functions/ddbctldpjob/partition-session.ts';
import { systemClock } from '../../runtime/clock.ts';

type Answer = (form: URLSearchParams) => { readonly status: number; readonly body: string };

/** An STS of one operation. */
async function startSts(answer: Answer) {
  const forms: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    void text(request).then((form) => {
      forms.push(new URLSearchParams(form));
      const { status, body } = answer(new URLSearchParams(form));
      response.writeHead(status, { 'content-type': 'text/xml' }).end(body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
  const sts = new STSClient({
    region: 'eu-west-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    maxAttempts: 1,
  });
  return { sts, forms };
}

const granted: Answer = () => ({
  status: 200,
  body: `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA</AccessKeyId>
    <SecretAccessKey>secret</SecretAccessKey><SessionToken>token</SessionToken>
    <Expiration>2030-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
});
const refused = (code: string): Answer => {
  const body = `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>canary</Message></Error></ErrorResponse>`;
  return () => ({ status: code === 'AccessDenied' ? 403 : 400, body });
};

const session = {
  roleArn: 'arn:aws:iam::123456789012:role/podless-ddbctldpjob-scoped',
  tableArn: 'arn:aws:dynamodb:eu-west-1:123456789012:table/orders',
  value: { S: 'x'.repeat(2000) },
  owner: { namespace: 'team-a', name: 'job'.padEnd(253, 'x') },
};

test('a session is opened for one partition, in the name of its job', async () => {
  const { sts, forms } = await startSts(granted);
  const credentials = await openSession(
    sts,
    { ...session, value: { S: 'customer-42' } },
    systemClock,
  );
  expect(credentials).toMatchObject({ accessKeyId: 'ASIA', sessionToken: 'token' });
  const [form] = forms;
  expect(form?.get('RoleArn')).toBe(session.roleArn);
  expect(form?.get('RoleSessionName')).toMatch(/^team-a\.jobx{54}$/);
  expect(form?.get('Policy')).toContain('"dynamodb:LeadingKeys":["customer-42"]');
});

test('a policy that is too large for STS in its packed form is made shorter', async () => {
  const limit = 600;
  const { sts, forms } = await startSts((form) =>
    (form.get('Policy')?.length ?? 0) > limit
      ? refused('PackedPolicyTooLarge')(form)
      : granted(form),
  );
  expect(await openSession(sts, session, systemClock)).toMatchObject({ accessKeyId: 'ASIA' });
  expect(forms.map((form) => form.get('Policy')?.length)).toEqual([2048, 1024, 512]);
});

test.each([
  ['AccessDenied', 'AccessDenied'],
  ['PackedPolicyTooLarge', 'SessionUnavailable'],
  ['InternalFailure', 'SessionUnavailable'],
])(
  'fails with %s as a condition that names the role, and with no text of the service',
  async (code, reason) => {
    const { sts, forms } = await startSts(refused(code));
    const failure = openSession(sts, session, systemClock);
    await expect(failure).rejects.toMatchObject({
      reason,
      message: expect.stringContaining(session.roleArn),
    });
    await expect(failure).rejects.not.toThrow('canary');
    expect(forms.length).toBeLessThanOrEqual(4);
  },
);
