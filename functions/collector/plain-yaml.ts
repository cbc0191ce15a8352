import { Composer, type Document, LineCounter } from 'yaml';
import { type ProblemAt, YamlProblem } from './yaml-problem.ts';
import { createYamlReader, tooDeep, yamlLimits } from './yaml-reader.ts';
import { tokensOf, tooDeepAt } from './yaml-tokens.ts';

/**
 * Reads one YAML document of maps, lists, texts, numbers, booleans and nulls; undefined if it is empty. Throws a YamlProblem for
 * everything else, before anything large is made of it.
 */
export function parsePlainYaml(text: string): unknown {
  const lines = new LineCounter();
  const problemAt: ProblemAt = (problem, offset) => {
    const { line, col } = lines.linePos(offset);
    return new YamlProblem(`${problem} (line ${line}, column ${col})`);
  };
  const { contents } = compose(text, lines, problemAt);
  return contents ? createYamlReader(problemAt)(contents) : undefined;
}

function compose(text: string, lines: LineCounter, problemAt: ProblemAt): Document.Parsed {
  const tokens = tokensOf(text, lines);
  const deep = tooDeepAt(tokens, yamlLimits.depth);
  if (deep !== undefined) throw tooDeep(problemAt, deep);
  // It could ask for another version of YAML, in which more is possible.
  const directive = tokens.find(({ type }) => type === 'directive');
  if (directive) throw problemAt('must have no directives', directive.offset);
  const composer = new Composer({
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    // The reader looks after that, in one go.
    uniqueKeys: false,
    // As numbers they would be rounded without a word.
    intAsBigInt: true,
    logLevel: 'silent',
    prettyErrors: false,
  });
  const [document, second] = [...composer.compose(tokens, true, text.length)];
  if (!document) throw problemAt('must be a YAML document', 0);
  const [error] = [...document.errors, ...document.warnings];
  // The code is a constant; the message repeats the text.
  if (error) throw problemAt(`must be plain YAML, but has ${error.code}`, error.pos[0]);
  if (second) throw problemAt('must be one document, but there are more', second.range[0]);
  return document;
}
