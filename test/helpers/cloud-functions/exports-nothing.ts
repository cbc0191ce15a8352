export const somethingElse = true;
