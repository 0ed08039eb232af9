/** Where tasks go, and which of them ECS stops first: by availability zone, else at random (docs/aws.md §1). */
import type { Random } from '../base/random.ts';

/** A task's zone and network interface. */
export type Place = {
  readonly zone: string;
  readonly subnetId: string;
  readonly interfaceId: string;
  readonly macAddress: string;
  readonly privateIp: string;
};

/** `random` in the fullest zone, or `worst`: wherever it hurts most, those whose daemon is busy first. */
export type Victims = 'random' | 'worst';

/** What the choice of a victim looks at. */
export type Candidate = {
  readonly zone: string;
  readonly isProtected: boolean;
  readonly isBusy: boolean;
  /** Could be given a job at any moment. */
  readonly isWaiting: boolean;
};

/** The zone with the fewest of these tasks. */
export function emptiestZone(zones: readonly string[], tasks: readonly { zone: string }[], random: Random) {
  const counts = countByZone(tasks);
  const least = Math.min(...zones.map((zone) => counts.get(zone) ?? 0));
  return random.pick(zones.filter((zone) => (counts.get(zone) ?? 0) === least));
}

/**
 * The next task of a service to stop for a scale-in: an unprotected one in the zone where most of its tasks are, or the
 * worst of all. A protected task is never chosen.
 */
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

/** The more, the worse it is to stop the task. */
export function harmOf({ isBusy, isWaiting }: Candidate): number {
  if (isBusy) return 2;
  return isWaiting ? 1 : 0;
}

function worstOf<T extends Candidate>(tasks: readonly T[]): readonly T[] {
  const most = Math.max(...tasks.map(harmOf));
  return tasks.filter((task) => harmOf(task) === most);
}

/** Hands out network interfaces: one subnet a zone, addresses are used again when they are free. */
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

  /** A /19 a zone: AWS keeps the first four addresses. */
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
