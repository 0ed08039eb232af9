/** Writes the full ARN of a secret into the configuration, in place of its name. */
import { readFileSync } from 'node:fs';
import { isScalar, parseDocument, visit } from 'yaml';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { writeFileWhole } from '../../lambda/shared/whole-file.ts';
import { InputError } from '../shared/cli-environment.ts';

/** ECS documents complete ARNs only (docs/internals/aws.md §3). */
export function writeFullArn(file: string, name: string, arn: string): void {
  try {
    writeFileWhole(file, withFullArn(readFileSync(file, 'utf8'), name, arn));
  } catch (cause) {
    throw new InputError(`writing ${arn} in place of "${name}" to ${file}: ${messageOf(cause)}`);
  }
}

/** Only the name changes: comments, quotes and white space stay. */
function withFullArn(text: string, name: string, arn: string): string {
  const parts: string[] = [];
  let end = 0;
  visit(parseDocument(text), {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || key.value !== 'secret') return;
      if (!isScalar(value) || value.value !== name || !value.range) return;
      const [from, to] = value.range;
      parts.push(
        text.slice(end, from),
        text.slice(from, to).replace(name, () => arn),
      );
      end = to;
    },
  });
  return [...parts, text.slice(end)].join('');
}
