/** Values that change rarely, read at most once an hour, such as the license. */
import type { EpochMs } from '../../decision/model/brands.ts';
import type { Entitlement } from '../../decision/model/snapshot.ts';
import { HOUR_MS } from '../../decision/model/units.ts';
import type { LicenseReading } from '../../look/ports.ts';
import { readEntitlement } from './account.ts';
import type { CoderdHttp } from './http/http.ts';

const KEPT_MS = HOUR_MS;
/** The look waits for the answer, so the time is short. */
const BUDGET_MS = 5_000;

export class Hourly<T> {
  #last: { readonly about: string; readonly at: EpochMs; readonly value: T | undefined } | undefined;

  get last(): T | undefined {
    return this.#last?.value;
  }

  /** Does not throw: after a failure it is the value before. Another `about` is read at once. */
  async at(
    now: EpochMs,
    read: (signal: AbortSignal) => Promise<T | undefined>,
    { about = '', keptMs = KEPT_MS }: { readonly about?: string; readonly keptMs?: number } = {},
  ): Promise<T | undefined> {
    const last = this.#last?.about === about ? this.#last : undefined;
    if (last !== undefined && Math.abs(now - last.at) < keptMs) return last.value;
    // Set this before the request: if coderd does not answer, the next look must not ask again.
    this.#last = { about, at: now, value: last?.value };
    try {
      const value = await read(AbortSignal.timeout(BUDGET_MS));
      this.#last = { about, at: now, value };
      return value;
    } catch {
      return last?.value;
    }
  }
}

export class License {
  readonly #http: CoderdHttp;
  readonly #entitlement = new Hourly<Entitlement>();
  #missingAt: EpochMs | undefined;

  constructor(http: CoderdHttp) {
    this.#http = http;
  }

  /** Empty if the license is unknown: the open-source server has no such route. Does not throw. */
  async at(now: EpochMs, isDoubted = false): Promise<LicenseReading> {
    const isMissing = this.#entitlement.last === 'not_entitled';
    const kept = isDoubted || isMissing ? { keptMs: 0 } : {};
    const license = await this.#entitlement.at(now, (signal) => readEntitlement(this.#http, signal), kept);
    if (license === 'not_entitled') this.#missingAt = now;
    return {
      ...(license === undefined ? {} : { license }),
      ...(this.#missingAt === undefined ? {} : { unlicensedAt: this.#missingAt }),
    };
  }
}
