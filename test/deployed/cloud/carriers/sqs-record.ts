import type { Message } from '@aws-sdk/client-sqs';
import { asText, type Json, type JsonObject } from '../template/json.ts';

/** A message as Lambda and Pipes pass it on. */
export function toSqsRecord(message: Message, queueArn: string): JsonObject {
  const attributes = Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [
    name,
    { stringValue: value.StringValue ?? '', dataType: value.DataType ?? 'String' },
  ]);
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: { ...message.Attributes },
    messageAttributes: Object.fromEntries(attributes) as JsonObject,
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3] ?? '',
  };
}

/** With its body as JSON, where it is: paths and filters look into it. */
export function withParsedBody(record: JsonObject): JsonObject {
  try {
    return { ...record, body: JSON.parse(asText(record['body'])) as Json };
  } catch {
    return record;
  }
}
