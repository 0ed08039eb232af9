/**
 * Reads the license for external provisioner daemons (docs/coder.md §3). The result is cached for
 * an hour, because a license changes rarely.
 */
import type { EpochMs } from '../../decision/model/brands.ts';
import type { Entitlement } from '../../decision/model/snapshot.ts';
import { readEntitlement } from './account.ts';
import type { CoderdHttp } from './http/http.ts';

const KEPT_MS = 3_600_000;
/** The look waits for the answer, so the time is short. */
const BUDGET_MS = 5_000;

export class License {
  readonly #http: CoderdHttp;
  #last: { readonly at: EpochMs; readonly entitlement: Entitlement | undefined } | undefined;

  constructor(http: CoderdHttp) {
    this.#http = http;
  }

  /** As `Coderd.license`. Does not throw: the result is undefined if the license is unknown. */
  async at(now: EpochMs): Promise<Entitlement | undefined> {
    const last = this.#last;
    if (last !== undefined && Math.abs(now - last.at) < KEPT_MS) return last.entitlement;
    // Set this before the request: if coderd does not answer, the next look must not ask again.
    this.#last = { at: now, entitlement: last?.entitlement };
    try {
      const entitlement = await readEntitlement(this.#http, AbortSignal.timeout(BUDGET_MS));
      this.#last = { at: now, entitlement };
    } catch {
      // Not known: no license is concluded from it. The open-source server has no such route.
    }
    return this.#last.entitlement;
  }
}
