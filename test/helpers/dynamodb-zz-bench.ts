import './dynamodb-credentials.ts';
import { deletePartition } from '../../functions/ddbctldpjob/delete-partition.ts';
import { createPartitionTable } from '../../functions/ddbctldpjob/dynamo.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { engines } from './dynamodb-engines.ts';
import { startFaultProxy } from './dynamodb-fault-proxy.ts';
import { createTestTables } from './dynamodb-tables.ts';
const { signal } = new AbortController();
for (const engine of engines) {
  const server = await engine.start();
  const tables = createTestTables(server.url);
  await tables.create('ttt', { partitionKey: { name: 'id', type: 'S' }, sortKey: { name: 'at', type: 'S' } });
  for (const [label, n, faults, max] of [['warm', 5000, undefined], ['clean', 20000, undefined], ['clean', 20000, undefined], ['5ms', 10000, {latencyMs:5}], ['5ms+30%unproc+5%5xx+5%thr', 10000, {latencyMs:5, unprocessed:.3, serverError:.05, throttle:.05}], ['cap1000', 5000, undefined, 1000]] as const) {
    for (let at = 0; at < n; at += 1000) await tables.put('ttt', Array.from({length: 1000}, (_, i) => ({ id: {S:'m'}, at: {S: 'k'+String(at+i).padStart(8,'0')}, p: {S: 'x'.repeat(170)} })));
    const proxy = faults && await startFaultProxy(server.url, faults);
    const table = createPartitionTable({ tableName: 'ttt', region: 'us-east-1', endpoint: proxy?.url ?? server.url });
    const p = table.partition(await table.describe(signal), { S: 'm' });
    const t0 = performance.now();
    const r = await deletePartition(p, { clock, signal, maxWriteUnitsPerSecond: max });
    const s = (performance.now()-t0)/1000;
    console.log(engine.name, label, n, `${s.toFixed(2)} s`, `${Math.round(n/s)}/s`, JSON.stringify(r), proxy ? JSON.stringify(proxy.calls) : '', `rss ${(process.memoryUsage().rss/1e6).toFixed(0)} MB`);
    await proxy?.stop();
  }
  await server.stop();
}
