import type { PlannedChange } from '../../runtime/reconcile.ts';

const HIDDEN = '(hidden)';

/** Without what is in the fields: it may come from the configuration, which is a secret. */
export const concealed = ({ fields, ...change }: PlannedChange): PlannedChange => ({
  ...change,
  ...(fields && {
    fields: fields.map(({ path, from, to }) => ({
      path,
      ...(from !== undefined && { from: HIDDEN }),
      ...(to !== undefined && { to: HIDDEN }),
    })),
  }),
});
