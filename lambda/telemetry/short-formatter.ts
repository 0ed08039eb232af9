import { LogFormatter, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';

/** Writes `message`, `service` and the fields of the event, and nothing else. */
export class ShortFormatter extends LogFormatter {
  override formatAttributes({ message, serviceName }: UnformattedAttributes, fields: LogAttributes): LogItem {
    return new LogItem({ attributes: { message, service: serviceName, ...fields } });
  }
}
