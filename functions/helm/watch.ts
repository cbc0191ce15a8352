import type { ChartKind } from '../../runtime/helm/chart-kinds.ts';

/** An entry of watches.yaml: a kind, and the chart whose values its spec is. */
export interface Watch {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  /** Folder or .tgz archive, from the root of the project. */
  readonly chart: string;
  /** Values that win over the spec, by path: `image.tag: "1.2"`. */
  readonly overrideValues?: Readonly<Record<string, string | number | boolean>>;
  /** Only objects with these labels are reconciled. Default: all. */
  readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
  /** Names of the kinds the chart may hold. Default: all of the usual ones. */
  readonly kinds?: readonly string[];
  /** Kinds beyond the usual ones, cluster-scoped ones among them. Default: none. */
  readonly extraKinds?: readonly ChartKind[];
}
