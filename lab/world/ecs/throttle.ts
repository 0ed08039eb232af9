import type { EpochMs } from '../../../lambda/decision/model/brands.ts';

type Rate = { readonly burst: number; readonly perSecond: number };

/** AWS's request buckets of one account and Region (docs/internals/aws.md §2), and Fargate's launch rate. */
const RATES = {
  'service-read': { burst: 100, perSecond: 20 },
  'service-modify': { burst: 50, perSecond: 5 },
  'cluster-resource-read': { burst: 100, perSecond: 20 },
  'task-protection': { burst: 200, perSecond: 80 },
  'fargate-launch': { burst: 100, perSecond: 20 },
} as const satisfies Record<string, Rate>;

export type BucketName = keyof typeof RATES;

export class Throttle {
  readonly #now: () => EpochMs;
  readonly #buckets = new Map<BucketName, { tokens: number; at: EpochMs }>();

  constructor(now: () => EpochMs) {
    this.#now = now;
  }

  take(name: BucketName): boolean {
    const { burst, perSecond } = RATES[name];
    const at = this.#now();
    const before = this.#buckets.get(name) ?? { tokens: burst, at };
    const tokens = Math.min(burst, before.tokens + ((at - before.at) / 1000) * perSecond);
    this.#buckets.set(name, { tokens: tokens >= 1 ? tokens - 1 : tokens, at });
    return tokens >= 1;
  }
}
