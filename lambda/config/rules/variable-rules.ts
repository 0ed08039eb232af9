/** Checks the variables of a pool against the way in which its daemons authenticate. */
import { ownValue } from '../../decision/model/collections.ts';
import { error, type Findings } from '../problems/problems.ts';
import { type Way, wayOf } from './auth-rules.ts';
import { at, type PoolDraft, toMapping } from './drafts.ts';

const OURS = 'is a variable that the autoscaler sets itself; remove it';
const FIXED_BY_KEY =
  'cannot be used with a provisioner key: coder refuses to start, because the key already fixes organization and tags; remove it';
const NOT_NEEDED =
  'is not needed: the daemon has its own credential, and coder does not pass this variable to Terraform; remove it, because templates could still read it from the daemon';
const instead = (way: Way): string =>
  `cannot be used with token: coder would use this credential instead of the token; remove it, or write ${way} instead of token`;

/** docs/internals/coder.md §5: what `coder provisioner start` does with each of these variables. */
const REFUSED: Readonly<Record<Way, Readonly<Record<string, string>>>> = {
  key: {
    CODER_PROVISIONER_DAEMON_KEY: OURS,
    CODER_PROVISIONERD_TAGS: FIXED_BY_KEY,
    CODER_PROVISIONER_DAEMON_PSK: FIXED_BY_KEY,
    CODER_ORGANIZATION: FIXED_BY_KEY,
    CODER_SESSION_TOKEN: NOT_NEEDED,
  },
  psk: {
    CODER_PROVISIONER_DAEMON_PSK: OURS,
    CODER_PROVISIONERD_TAGS: OURS,
    CODER_PROVISIONER_DAEMON_KEY:
      'cannot be used with a pre-shared key: coder refuses to start with both; remove it',
    CODER_ORGANIZATION:
      'cannot be used with a pre-shared key: coder refuses to start, because a pre-shared key works in the default organization only; remove it',
    CODER_SESSION_TOKEN: NOT_NEEDED,
  },
  token: {
    CODER_SESSION_TOKEN: OURS,
    CODER_PROVISIONERD_TAGS: OURS,
    CODER_ORGANIZATION: OURS,
    CODER_PROVISIONER_DAEMON_KEY: instead('key'),
    CODER_PROVISIONER_DAEMON_PSK: instead('psk'),
  },
};

export function* checkCredentialVariables(pool: PoolDraft): Findings {
  const refusals = REFUSED[wayOf(pool)];
  for (const section of ['environment', 'secrets'] as const)
    for (const name of Object.keys(toMapping(pool.raw[section]))) {
      const why = ownValue(refusals, name);
      if (why !== undefined) yield error(at(pool, section, name), `"${name}" ${why}`);
    }
}
