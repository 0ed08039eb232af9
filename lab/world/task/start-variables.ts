/** Reads the variables of a container as `coder provisioner start` does (docs/internals/coder.md §5). */
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import type { Credential } from '../base/daemon-connection.ts';

export type Variables = Readonly<Record<string, string>>;

/** An empty credential if coder refuses to start. An empty variable counts as unset. */
export function readCredential(variables: Variables): Credential {
  const given = (name: string) => ownValue(variables, name) || undefined;
  const key = given('CODER_PROVISIONER_DAEMON_KEY');
  const psk = given('CODER_PROVISIONER_DAEMON_PSK');
  const organization = given('CODER_ORGANIZATION');
  const tags = parseTags(given('CODER_PROVISIONERD_TAGS') ?? '');
  const isOfUser = key === undefined && psk === undefined;
  if (tags === undefined || (!isOfUser && organization !== undefined)) return {};
  if (key !== undefined) return psk === undefined && Object.keys(tags).length === 0 ? { key } : {};
  // With a pre-shared key coder sets the scope itself.
  if (psk !== undefined) return { psk, tags: { ...tags, scope: 'organization' } };
  const token = given('CODER_SESSION_TOKEN');
  return {
    tags,
    ...(token === undefined ? {} : { token }),
    ...(organization === undefined ? {} : { organization }),
  };
}

/** One record of CSV, each field `name=value`; undefined if it is not valid. */
function parseTags(csv: string): Tags | undefined {
  const fields = csv === '' ? [] : parseRecord(csv);
  const pairs = fields?.map((field) => /^([^=]*)=(.*)$/s.exec(field));
  if (pairs === undefined || pairs.includes(null)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
}

/** A field in quotes, with `""` for a quote; or a field without quotes (Go's encoding/csv). */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|$)/y;

function parseRecord(csv: string): readonly string[] | undefined {
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  for (;;) {
    const match = FIELD.exec(csv);
    if (match === null) return undefined;
    const [, quoted, plain = '', end] = match;
    fields.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '') return fields;
  }
}
