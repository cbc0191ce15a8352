/** Shorter ones are everywhere (`a`, `on`, `80`): to hide them would hide the message, and tell nothing. */
const MIN_HIDDEN_LENGTH = 4;
const MAX_MESSAGE_LENGTH = 500;
const HIDDEN = '(hidden)';

/** Makes messages that may be shown to everybody out of those of Helm, which may quote values or the manifest. */
export type SafeMessage = (text: string) => string;

/** @param values whose texts must not be seen, however they were quoted */
export function createSafeMessage(values: unknown): SafeMessage {
  const secrets = [...new Set(textsOf(values).flatMap(spellings))]
    .filter(({ length }) => length >= MIN_HIDDEN_LENGTH)
    // The longest first: one may be a part of another.
    .toSorted((one, other) => other.length - one.length);
  return (text) => {
    const hidden = secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
    return shortened(hidden.replaceAll(/\s+/g, ' ').trim());
  };
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'bigint') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

/** As it is, in quotes, in base64 as Secrets have it, and line by line. */
const spellings = (text: string): readonly string[] => [
  text,
  text.trim(),
  JSON.stringify(text).slice(1, -1),
  Buffer.from(text).toString('base64'),
  ...text.split('\n').map((line) => line.trim()),
];

const shortened = (text: string): string =>
  text.length > MAX_MESSAGE_LENGTH
    ? `${text.slice(0, MAX_MESSAGE_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`
    : text;

/** What helm says went wrong: its last `Error:` and the lines that belong to it. */
export function errorOf(stderr: string): string {
  const from = stderr.lastIndexOf('Error: ');
  const text = from === -1 ? stderr : stderr.slice(from + 'Error: '.length);
  const [message = ''] = text.split(/\n\s*\n|\nUse --debug|\nlevel=/);
  // What follows may quote the text that could not be read.
  return message.replace(/(YAML parse error on [^:\s]+).*/s, '$1').trim();
}
