/**
 * Checks the token for coderd: that it exists, is valid, belongs to no owner, and when it expires.
 */

import { readUser } from '../../../lambda/adapters/coderd/account.ts';
import type { CoderdHttp } from '../../../lambda/adapters/coderd/http/http.ts';
import { readExpiry, tokenId } from '../../../lambda/adapters/coderd/token-expiry.ts';
import type { Secrets } from '../../../lambda/adapters/secrets/secrets.ts';
import { type EpochMs, isoTime } from '../../../lambda/decision/model/brands.ts';
import type { SecretRef } from '../../../lambda/decision/model/config.ts';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';
import { some, timeText } from '../../../lambda/explain/format.ts';
import { type Check, type Checked, fail, ok, skip, warn } from '../base/check.ts';
import { readSecret } from '../base/secret.ts';
import type { Server } from '../base/server.ts';

const SECRET = 'token secret';
const VALID = 'token valid';
const EXPIRY = 'token expiry';

const SOON_DAYS = 14;
export const RENEW = 'Create a new token (coder tokens create --lifetime 8760h) and put it into the secret';

/** The token's secret. The value is the token's id. */
export type TokenSecret = Checked<string> & {
  /** What makes all secrets unreadable on this machine, if anything does. */
  readonly everywhere?: string;
};

export function skipTokenSecret(blocker: string): TokenSecret {
  return { checks: [skip(SECRET, blocker)], blocker };
}

export async function checkTokenSecret(secrets: Secrets, ref: SecretRef): Promise<TokenSecret> {
  const reading = await readSecret(secrets, ref, { name: SECRET, reader: "the function's role" });
  if ('check' in reading) {
    const { check, isEverywhere } = reading;
    return { checks: [check], blocker: SECRET, ...(isEverywhere ? { everywhere: check.says } : {}) };
  }
  const id = tokenId(reading.value);
  if (id !== undefined) return { checks: [ok(SECRET, `"${ref.secret}" is readable`)], value: id };
  const says = `"${ref.secret}" holds no session token of the form <id>-<secret>. ${RENEW}`;
  return { checks: [fail(SECRET, says)], blocker: SECRET };
}

/** Checks that coderd accepts the token. */
export async function checkToken(
  http: CoderdHttp,
  server: Checked<Server>,
  secret: Checked<string>,
): Promise<Checked<true>> {
  if ('blocker' in server) return blocked(server.blocker);
  if ('blocker' in secret) return blocked(secret.blocker);
  try {
    const { name, isOwner } = await readUser(http);
    const user = isOwner ? warn(VALID, owner(name)) : ok(VALID, `coderd accepts it; its user is "${name}"`);
    return {
      checks: [user, await checkExpiry(http, { id: secret.value, now: server.value.now })],
      value: true,
    };
  } catch (cause) {
    const message = messageOf(cause);
    const expired = /expired at "([^"]*)"/.exec(message)?.[1];
    const expiry =
      expired === undefined ? skip(EXPIRY, VALID) : fail(EXPIRY, `expired at ${timeText(expired)}. ${RENEW}`);
    return { checks: [fail(VALID, message), expiry], blocker: VALID };
  }
}

const blocked = (blocker: string): Checked<never> => ({
  checks: [skip(VALID, blocker), skip(EXPIRY, blocker)],
  blocker,
});

const owner = (name: string): string =>
  `user "${name}" is an owner. An owner's token may do everything and expires after 7 days by default. Create the token for a user with the organization template admin role`;

/** `name`: of the check. @default that of the autoscaler's own token */
export async function checkExpiry(
  http: CoderdHttp,
  { id, now, name = EXPIRY }: { readonly id: string; readonly now: EpochMs; readonly name?: string },
): Promise<Check> {
  try {
    const expiresAt = await readExpiry(http, { id, now });
    if (expiresAt === undefined) return ok(name, 'coderd extends it with each use');
    const days = Math.floor((expiresAt - now) / DAY_MS);
    const says = `expires at ${timeText(isoTime(expiresAt))}, in ${some(days, 'day')}`;
    return days < SOON_DAYS ? warn(name, `${says}. ${RENEW}`) : ok(name, says);
  } catch (cause) {
    return warn(name, `unknown: ${messageOf(cause)}. Check it in coderd, in the tokens of its user`);
  }
}
