import { HarnessGap } from '../iam/gap.ts';
import type { Json } from '../template/json.ts';
import { parseJsonPath } from './json-path.ts';

/**
 * A Pipe's InputTemplate: `<$.path>` stands for a value of the event, as JSON, or as bare text inside quotes. A value
 * that is not there stands for nothing.
 */
export function renderTemplate(template: string, event: Json): string {
  let quoted = false;
  let rendered = '';
  for (const part of template.match(/<[^>]*>|\\.|"|[^<"\\]+/gs) ?? []) {
    if (part === '"') quoted = !quoted;
    rendered += part.startsWith('<') ? render(part.slice(1, -1), event, quoted) : part;
  }
  return rendered;
}

function render(variable: string, event: Json, quoted: boolean): string {
  if (!variable.startsWith('$')) throw new HarnessGap(`the harness does not know <${variable}>`);
  const value = parseJsonPath(variable)(event);
  if (value === undefined) return '';
  const json = JSON.stringify(value);
  if (!quoted) return json;
  return typeof value === 'string' ? json.slice(1, -1) : JSON.stringify(json).slice(1, -1);
}
