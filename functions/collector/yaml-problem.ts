/** What is wrong with a YAML text, and where. Never what stands there: it may be a secret. */
export class YamlProblem extends Error {}

/** @param offset of the character, from the start of the text */
export type ProblemAt = (problem: string, offset: number) => YamlProblem;
