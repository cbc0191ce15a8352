import type { DeletionRun } from './deletion-run.ts';
import type { Hedge } from './hedge.ts';
import type { Retry } from './retry.ts';
import { type ItemReply, type Partition, TableFault } from './table.ts';

export interface OnlyItemTools {
  readonly partition: Partition;
  readonly retry: Retry;
  readonly hedge: Hedge;
}

/** Without a sort key a partition is one item or none, and DynamoDB tells which. */
export async function deleteOnlyItem(run: DeletionRun, tools: OnlyItemTools): Promise<void> {
  const { partition, retry, hedge } = tools;
  let inDoubt = false;
  const attempt = async (): Promise<ItemReply | undefined> => {
    try {
      return await hedge(
        async (signal) => partition.deleteOnlyItem?.(signal),
        () => {
          inDoubt = true;
        },
      );
    } catch (error) {
      if (error instanceof TableFault && error.mayHaveApplied) inDoubt = true;
      throw error;
    }
  };
  try {
    const reply = await retry.call(attempt, () => (inDoubt ? run.cutOff : run.stopped));
    if (!reply) return;
    run.add({ deleted: Number(reply.existed), writeUnits: reply.writeUnits });
    // Not there any more: an earlier call of ours, whose reply was lost, may have deleted it.
    if (!reply.existed && inDoubt) run.loseCount();
  } catch (error) {
    if (inDoubt) run.loseCount();
    if (!run.stopped.aborted) run.fail(error);
  }
}
