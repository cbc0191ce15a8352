import type { CursorStore } from '../cloud.ts';
import { environmentNames } from './environment.ts';
import { readVariable } from './environment-reader.ts';
import type { PortFactory } from './ports.ts';

/** Cursors in the table that the environment names. Their client is loaded while the cluster's address is asked for. */
export const cursorStore: PortFactory<CursorStore> = ({ environment, region, clock }) => {
  const table = readVariable(environment, environmentNames.cursorTable, {
    expected: 'the name of a DynamoDB table',
    pattern: /^[\w.-]{3,255}$/,
  });
  let store: Promise<CursorStore> | undefined;
  const loaded = (): Promise<CursorStore> => {
    store ??= import('./dynamo-cursors.ts').then(({ openCursorStore }) =>
      openCursorStore({ table, region, clock }),
    );
    return store;
  };
  return {
    read: async (key) => (await loaded()).read(key),
    write: async (key, resourceVersion) => (await loaded()).write(key, resourceVersion),
    clear: async (key) => (await loaded()).clear(key),
  };
};
