import { contextKeys } from './context-keys.ts';
import type { ContextProblem } from './context-reader.ts';

/** All problems as one text for a terminal, a paragraph for each value. */
export function describeProblems(problems: readonly ContextProblem[]): string {
  const byKey = Object.values(Object.groupBy(problems, ({ key }) => key));
  const head = byKey.length === 1 ? 'a value is' : `${byKey.length} values are`;
  return [`Podless was not synthesized: ${head} not right.`, ...byKey.map(paragraph)].join('\n\n');
}

function paragraph(problems: readonly ContextProblem[]): string {
  const [first] = problems;
  if (!first) return '';
  const { key, got } = first;
  return [
    ...problems.map(({ what }) => `  -c ${key} ${what}`),
    `     got       ${got === undefined ? 'nothing' : JSON.stringify(got)}`,
    `     expected  ${contextKeys[key].expected}`,
    `     example   npx cdk deploy ${contextKeys[key].example}`,
  ].join('\n');
}
