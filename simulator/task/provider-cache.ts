/**
 * The provider cache of a task (docs/internals/coder.md §13). Each task begins with an empty one,
 * so the first `terraform init` downloads the providers.
 */

import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import type { InitWork, StageSpan } from '../base/daemon-connection.ts';
import type { Random } from '../base/random.ts';

export class ProviderCache {
  readonly #providers = new Set<string>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Runs an init, in milliseconds: downloads the providers that are missing. */
  init({ warmMs, providers, spread = 0 }: InitWork): number {
    let ms = warmMs;
    for (const [name, downloadMs] of Object.entries(providers)) {
      if (!this.#providers.has(name)) ms += downloadMs;
      this.#providers.add(name);
    }
    return Math.round(ms * this.#factor(spread));
  }

  /** Log-normal with a mean of 1, by Box and Muller. */
  #factor(spread: number): number {
    if (spread === 0) return 1;
    const radius = Math.sqrt(-2 * Math.log(1 - this.#random.next()));
    const normal = radius * Math.cos(2 * Math.PI * this.#random.next());
    return Math.exp(spread * normal - spread ** 2 / 2);
  }
}

/** The stages of a job that takes `initMs` for its init and `restMs` for all others together. */
export function stagesOf(
  startedAt: EpochMs,
  { initMs, restMs }: { readonly initMs: number; readonly restMs: number },
): readonly StageSpan[] {
  const ends = [0, initMs, initMs + restMs * 0.3, initMs + restMs * 0.9, initMs + restMs].map(Math.round);
  const names = ['init', 'plan', 'apply', 'graph'] as const;
  return names.map((stage, index) => ({
    stage,
    startedAt: plusMs(startedAt, ends[index] ?? 0),
    endedAt: plusMs(startedAt, ends[index + 1] ?? 0),
  }));
}
