import type { RunCounts, RunSettings } from './settings.ts';

/** Every one of them is answered with the counts. */
export type ToProxy =
  | { readonly type: 'begin'; readonly settings: RunSettings }
  | { readonly type: 'count' };

export type FromProxy =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'counts'; readonly counts: RunCounts };
