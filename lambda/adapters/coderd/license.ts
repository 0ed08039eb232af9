/**
 * Reads the license for external provisioner daemons (docs/internals/coder.md §3). The result is
 * cached for an hour, because a license changes rarely.
 */
import type { EpochMs } from '../../decision/model/brands.ts';
import type { Entitlement } from '../../decision/model/snapshot.ts';
import { readEntitlement } from './account.ts';
import { Hourly } from './hourly.ts';
import type { CoderdHttp } from './http/http.ts';

export class License {
  readonly #http: CoderdHttp;
  readonly #entitlement = new Hourly<Entitlement>();

  constructor(http: CoderdHttp) {
    this.#http = http;
  }

  /**
   * As `Coderd.license`. Does not throw: the result is undefined if the license is unknown. The
   * open-source server has no such route.
   */
  at(now: EpochMs): Promise<Entitlement | undefined> {
    return this.#entitlement.at(now, (signal) => readEntitlement(this.#http, signal));
  }
}
