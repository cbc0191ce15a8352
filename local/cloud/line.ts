/** First in, first out, at a constant cost per item; `Array.shift` and `Set` are not for long lines. */
export interface Line<T> {
  readonly length: number;
  push(item: T): void;
  first(): T | undefined;
  shift(): T | undefined;
}

const COMPACT_ABOVE = 1024;

export function createLine<T>(): Line<T> {
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    get length() {
      return items.length - head;
    },
    push: (item) => {
      items.push(item);
    },
    first: () => items[head],
    shift: () => {
      if (head === items.length) return undefined;
      const item = items[head];
      items[head] = undefined;
      head += 1;
      if (head === items.length || (head > COMPACT_ABOVE && head * 2 > items.length)) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
  };
}
