/**
 * When the session token expires, from `GET /api/v2/users/me/keys/{id}` (coderd/apikey.go). The id is the part
 * of the token before its hyphen. Kept for an hour, because only days matter.
 */
import type { EpochMs } from '../../decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS } from '../../decision/model/units.ts';
import type { Secret } from '../shared/secret.ts';
import { Hourly } from './hourly.ts';
import type { CoderdHttp, TokenSource } from './http/http.ts';
import { apiKeySchema } from './http/schemas.ts';

/** coderd extends a token when an hour or more of its lifetime is used up (coderd/httpmw/apikey.go). */
const EXTENDED_AFTER_MS = HOUR_MS;
/** coderd writes the times of one key one after another, and clocks differ a little. */
const SLACK_MS = MINUTE_MS;

export class TokenExpiry {
  readonly #http: CoderdHttp;
  readonly #token: TokenSource;
  readonly #expiry = new Hourly<EpochMs>();

  constructor(http: CoderdHttp, token: TokenSource) {
    this.#http = http;
    this.#token = token;
  }

  /** As `Coderd.tokenExpiry`. Does not throw: the result is undefined if the time is unknown. */
  async at(now: EpochMs): Promise<EpochMs | undefined> {
    try {
      const id = tokenId(await this.#token.read({ fresh: false }));
      if (id === undefined) return undefined;
      return await this.#expiry.at(now, (signal) => readExpiry(this.#http, { id, now, signal }), {
        about: id,
      });
    } catch {
      return this.#expiry.last;
    }
  }
}

/** The public part of a session token `<id>-<secret>`. Undefined if the text is not such a token. */
export function tokenId(token: Secret): string | undefined {
  return /^([A-Za-z0-9]+)-./.exec(token.reveal())?.[1];
}

/**
 * Undefined if coderd extends the token with each use, because a token in constant use then never expires.
 * Releases before #26376 do so, without CODER_DISABLE_SESSION_EXPIRY_REFRESH. After an upgrade the time is
 * known an hour after the last extension. Throws CoderdError.
 */
export async function readExpiry(
  http: CoderdHttp,
  { id, now, signal }: { readonly id: string; readonly now: EpochMs; readonly signal?: AbortSignal },
): Promise<EpochMs | undefined> {
  const path = `/api/v2/users/me/keys/${encodeURIComponent(id)}`;
  const { value } = await http.get(path, {}, apiKeySchema, { signal });
  const { created_at, expires_at, lifetime_seconds } = value;
  const lifetimeMs = lifetime_seconds * 1000;
  const wasExtended = expires_at - created_at > lifetimeMs + SLACK_MS;
  // This request has just extended the token, or coderd did not need to extend it yet.
  const isBeingExtended = expires_at - now > lifetimeMs - EXTENDED_AFTER_MS - SLACK_MS;
  return wasExtended && isBeingExtended ? undefined : expires_at;
}
