/** The value of a managed key's secret: `{"key":"…","id":"<uuid>","name":"…","madeFor":"<hash>"}`. */
import * as z from 'zod';
import { Secret } from '../../adapters/shared/secret.ts';
import { parseQuietly } from '../../decision/model/parse-quietly.ts';

export type StoredKey = {
  readonly key: Secret;
  /** Absent if a person has stored the key alone. */
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** A value of MADE_FOR_TAG. */
  readonly madeFor?: string | undefined;
};

/** What a header can carry. Tasks get the value as it is: a key with a line break never works. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

const schema = z.object({
  key: z.string().regex(VISIBLE_ASCII),
  id: z.string().optional(),
  name: z.string().optional(),
  madeFor: z.string().optional(),
});

/** Undefined if the value has no key where the tasks look for it. */
export function parseStoredKey(value: Secret): StoredKey | undefined {
  const parsed = schema.safeParse(parseQuietly(value.reveal()));
  return parsed.success ? { ...parsed.data, key: new Secret(parsed.data.key) } : undefined;
}

export function writeStoredKey({ key, ...rest }: Required<StoredKey>): Secret {
  return new Secret(JSON.stringify({ key: key.reveal(), ...rest }));
}
