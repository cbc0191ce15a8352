import { describe, expect, test } from 'vitest';
import { differences } from '../../runtime/children/differences.ts';

describe('amounts', () => {
  const limits = (cpu: unknown) => ({
    spec: { template: { spec: { containers: [{ name: 'a', resources: { limits: { cpu } } }] } } },
  });

  test.each([
    ['1000m', '1'],
    [0.5, '500m'],
    ['.5', '500m'],
    ['1024Mi', '1Gi'],
    ['1e3', '1k'],
    ['1E3', '1000'],
    ['1E', '1000P'],
    ['12e-3', '12m'],
    ['+2', '2'],
    ['0', '0m'],
  ])('%s is %s', (wanted, live) => {
    expect(differences(limits(wanted), limits(live))).toEqual([]);
    expect(differences(limits(live), limits(wanted))).toEqual([]);
  });

  test.each([
    ['1', '1m'],
    ['1M', '1Mi'],
    ['1000m', '1001m'],
    ['1', 'one'],
    ['', '1'],
    ['1kk', '1k'],
  ])('%s is not %s', (wanted, live) => {
    expect(differences(limits(wanted), limits(live))).toHaveLength(1);
  });

  test('are texts in places that hold texts', () => {
    expect(differences({ data: { limits: '1' } }, { data: { limits: '1.0' } })).toHaveLength(1);
    const labels = (requests: string) => ({ metadata: { labels: { requests } } });
    expect(differences(labels('1'), labels('1000m'))).toHaveLength(1);
  });
});
