import { createLine, type Line } from './line.ts';
import type { StoredMessage } from './message-store.ts';

interface Group {
  readonly name: string;
  readonly fresh: Line<StoredMessage>;
  /** Back from flight, in order. All are older than the fresh ones, since delivery starts at the oldest. */
  returned: StoredMessage[];
  inFlight: number;
}

/**
 * The visible messages of a FIFO queue by group. Groups that may be delivered stand in a line of their own, so a
 * blocked group costs nothing, however many messages it has.
 */
export class MessageGroups {
  readonly #groups = new Map<string, Group>();
  readonly #ready = createLine<Group>();

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Puts a message into its group: a new one last, one that comes back from flight where it was. */
  put(message: StoredMessage): void {
    const group = this.#groupOf(message);
    if (message.receiveCount === 0) {
      group.fresh.push(message);
      if (group.inFlight === 0 && sizeOf(group) === 1) this.#ready.push(group);
    } else {
      group.returned = [...group.returned, message].sort(bySequence);
      this.#landed(group);
    }
  }

  /** A message of the group has left flight for good. */
  settle(message: StoredMessage): void {
    this.#landed(this.#groupOf(message));
  }

  /** Takes up to `max` messages, in order within a group; nothing more of these groups is taken until all have landed. */
  take(max: number): StoredMessage[] {
    const taken: StoredMessage[] = [];
    while (taken.length < max) {
      const group = this.#ready.shift();
      if (group === undefined) break;
      taken.push(...takeFrom(group, max - taken.length));
    }
    return taken;
  }

  #landed(group: Group): void {
    group.inFlight -= 1;
    if (group.inFlight > 0) return;
    if (sizeOf(group) > 0) this.#ready.push(group);
    else this.#groups.delete(group.name);
  }

  #groupOf(message: StoredMessage): Group {
    const name = message.fifo?.group ?? '';
    const known = this.#groups.get(name);
    if (known) return known;
    const created: Group = { name, fresh: createLine(), returned: [], inFlight: 0 };
    this.#groups.set(name, created);
    return created;
  }
}

function takeFrom(group: Group, max: number): StoredMessage[] {
  const taken = group.returned.splice(0, max);
  for (let next = group.fresh.first(); next && taken.length < max; next = group.fresh.first()) {
    taken.push(next);
    group.fresh.shift();
  }
  group.inFlight += taken.length;
  return taken;
}

const sizeOf = (group: Group): number => group.returned.length + group.fresh.length;

/** Sequence numbers have equal length, so they compare as text. */
const bySequence = (one: StoredMessage, other: StoredMessage): number =>
  (one.fifo?.sequenceNumber ?? '') < (other.fifo?.sequenceNumber ?? '') ? -1 : 1;
