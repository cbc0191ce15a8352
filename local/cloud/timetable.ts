interface Entry<T> {
  readonly item: T;
  readonly dueAt: number;
  readonly order: number;
}

/** Items that become due, earliest first: a binary heap that knows where each item is, so any can be taken out. */
export class Timetable<T> {
  readonly #heap: Entry<T>[] = [];
  readonly #positions = new Map<T, number>();
  #lastOrder = 0;

  /** Enters `item`, or moves it if it is entered already. */
  set(item: T, dueAt: number): void {
    this.remove(item);
    this.#lastOrder += 1;
    this.#rise({ item, dueAt, order: this.#lastOrder }, this.#heap.length);
  }

  remove(item: T): void {
    const index = this.#positions.get(item);
    if (index === undefined) return;
    this.#positions.delete(item);
    const last = this.#heap.pop();
    if (last === undefined || last.item === item) return;
    // The last entry fills the hole; it may belong above or below it.
    this.#rise(last, index);
    this.#sink(last, this.#positions.get(last.item) ?? index);
  }

  nextDueAt(): number | undefined {
    return this.#heap[0]?.dueAt;
  }

  /** Takes out one item that is due by `now`; of equal times the one entered first. */
  takeDue(now: number): T | undefined {
    const [earliest] = this.#heap;
    if (earliest === undefined || earliest.dueAt > now) return undefined;
    this.remove(earliest.item);
    return earliest.item;
  }

  #rise(entry: Entry<T>, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex];
      if (parent === undefined || isBefore(parent, entry)) break;
      this.#place(parent, index);
      index = parentIndex;
    }
    this.#place(entry, index);
  }

  #sink(entry: Entry<T>, from: number): void {
    let index = from;
    for (;;) {
      const childIndex = this.#earlierChild(index);
      const child = this.#heap[childIndex];
      if (child === undefined || isBefore(entry, child)) break;
      this.#place(child, index);
      index = childIndex;
    }
    this.#place(entry, index);
  }

  #earlierChild(index: number): number {
    const left = 2 * index + 1;
    const [leftEntry, rightEntry] = [this.#heap[left], this.#heap[left + 1]];
    return leftEntry && rightEntry && isBefore(rightEntry, leftEntry) ? left + 1 : left;
  }

  #place(entry: Entry<T>, index: number): void {
    this.#heap[index] = entry;
    this.#positions.set(entry.item, index);
  }
}

const isBefore = <T>(one: Entry<T>, other: Entry<T>): boolean =>
  one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.order < other.order);
