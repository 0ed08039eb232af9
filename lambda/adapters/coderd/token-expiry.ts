/**
 * When the session token ends: `GET /api/v2/users/me/keys/{id}`, where the id is what stands before the token's hyphen
 * (coderd/apikey.go, codersdk.APIKey). Kept for an hour: it is about days.
 */
import type { EpochMs } from '../../decision/model/brands.ts';
import type { CoderdHttp, TokenSource } from './http/http.ts';
import { apiKeySchema } from './http/schemas.ts';

const KEPT_MS = 3_600_000;
/** The look waits for it. */
const BUDGET_MS = 5_000;
/** coderd puts an end off when an hour or more of the lifetime is used up (coderd/httpmw/apikey.go). */
const PUT_OFF_AFTER_MS = 3_600_000;
/** Times of one key are written one after another, and clocks differ a little. */
const SLACK_MS = 60_000;

type Read = { readonly id: string; readonly at: EpochMs; readonly expiresAt: EpochMs | undefined };

export class TokenExpiry {
  readonly #http: CoderdHttp;
  readonly #token: TokenSource;
  #last: Read | undefined;

  constructor(http: CoderdHttp, token: TokenSource) {
    this.#http = http;
    this.#token = token;
  }

  /** As `Coderd.tokenExpiry`. Doesn't throw: what can't be read is unknown. */
  async at(now: EpochMs): Promise<EpochMs | undefined> {
    try {
      const id = tokenId(await this.#token.read({ fresh: false }));
      if (id === undefined) return undefined;
      const last = this.#last?.id === id ? this.#last : undefined;
      if (last !== undefined && Math.abs(now - last.at) < KEPT_MS) return last.expiresAt;
      // first: a coderd that doesn't tell is not asked again in each look
      this.#last = { id, at: now, expiresAt: last?.expiresAt };
      const expiresAt = await readExpiry(this.#http, { id, now, signal: AbortSignal.timeout(BUDGET_MS) });
      this.#last = { id, at: now, expiresAt };
      return expiresAt;
    } catch {
      return this.#last?.expiresAt;
    }
  }
}

/** The public part of a session token, `<id>-<secret>`; undefined for what is no such token. */
export function tokenId(token: string): string | undefined {
  return /^([A-Za-z0-9]+)-./.exec(token)?.[1];
}

/**
 * When the token ends. Undefined where coderd puts the end off with each use: releases before #26376 do, unless started with
 * CODER_DISABLE_SESSION_EXPIRY_REFRESH, and a token that is used all the time then never ends. A token that an older release put
 * off ends after an upgrade: it is known an hour after its last putting off. Throws CoderdError.
 */
export async function readExpiry(
  http: CoderdHttp,
  { id, now, signal }: { readonly id: string; readonly now: EpochMs; readonly signal?: AbortSignal },
): Promise<EpochMs | undefined> {
  const path = `/api/v2/users/me/keys/${encodeURIComponent(id)}`;
  const { value } = await http.get(path, {}, apiKeySchema, signal);
  const { created_at, expires_at, lifetime_seconds } = value;
  const lifetimeMs = lifetime_seconds * 1000;
  const wasPutOff = expires_at - created_at > lifetimeMs + SLACK_MS;
  // this very request has just put it off, or did not need to yet
  const isPutOff = expires_at - now > lifetimeMs - PUT_OFF_AFTER_MS - SLACK_MS;
  return wasPutOff && isPutOff ? undefined : expires_at;
}
