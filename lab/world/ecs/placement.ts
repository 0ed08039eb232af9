/** The zone of a new task, and the task that ECS stops first (docs/internals/aws.md §1). */
import type { Random } from '../base/random.ts';

export type Place = {
  readonly zone: string;
  readonly subnetId: string;
  readonly interfaceId: string;
  readonly macAddress: string;
  readonly privateIp: string;
};

/** `random`: in the fullest zone. `worst`: the task whose stop does most harm, busy daemons first. */
export type Victims = 'random' | 'worst';

export type Candidate = {
  readonly zone: string;
  readonly isProtected: boolean;
  readonly isBusy: boolean;
  /** Whether it could get a job at any moment. */
  readonly isWaiting: boolean;
};

export function emptiestZone(zones: readonly string[], tasks: readonly { zone: string }[], random: Random) {
  const counts = countByZone(tasks);
  const least = Math.min(...zones.map((zone) => counts.get(zone) ?? 0));
  return random.pick(zones.filter((zone) => (counts.get(zone) ?? 0) === least));
}

/** An unprotected task in the zone with most of the service's tasks, or the worst one. */
export function pickVictim<T extends Candidate>(
  tasks: readonly T[],
  choice: { readonly random: Random; readonly victims: Victims },
): T | undefined {
  const free = tasks.filter((task) => !task.isProtected);
  if (free.length === 0) return undefined;
  if (choice.victims === 'worst') return choice.random.pick(worstOf(free));
  const counts = countByZone(tasks);
  const most = Math.max(...free.map((task) => counts.get(task.zone) ?? 0));
  return choice.random.pick(free.filter((task) => counts.get(task.zone) === most));
}

/** The harm of stopping the task; a higher number is worse. */
export function harmOf({ isBusy, isWaiting }: Candidate): number {
  if (isBusy) return 2;
  return isWaiting ? 1 : 0;
}

function worstOf<T extends Candidate>(tasks: readonly T[]): readonly T[] {
  const most = Math.max(...tasks.map(harmOf));
  return tasks.filter((task) => harmOf(task) === most);
}

/** Assigns network interfaces: one subnet for each zone; free addresses are used again. */
export class Subnets {
  readonly zones: readonly string[];
  readonly #random: Random;
  readonly #subnetIds: readonly string[];
  readonly #used = new Set<string>();

  constructor(zones: readonly string[], random: Random) {
    this.zones = zones;
    this.#random = random;
    this.#subnetIds = zones.map(() => `subnet-0${random.hex(16)}`);
  }

  take(zone: string): Place {
    const index = this.zones.indexOf(zone);
    const privateIp = this.#freeAddress(index);
    this.#used.add(privateIp);
    return {
      zone,
      subnetId: this.#subnetIds[index] ?? '',
      interfaceId: `eni-0${this.#random.hex(16)}`,
      macAddress: `02:${(this.#random.hex(10).match(/../g) ?? []).join(':')}`,
      privateIp,
    };
  }

  free(place: Place): void {
    this.#used.delete(place.privateIp);
  }

  /** A random free address of the zone's /19. AWS reserves the first four. */
  #freeAddress(index: number): string {
    for (;;) {
      const host = this.#random.whole(4, 32 * 256 - 2);
      const address = `10.0.${index * 32 + (host >> 8)}.${host & 255}`;
      if (!this.#used.has(address)) return address;
    }
  }
}

function countByZone(tasks: readonly { readonly zone: string }[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { zone } of tasks) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  return counts;
}
