/** A sum over past half hours: recent ones and those of this time of day count more. */
export const SLOT_MS = 30 * 60_000;
const SLOTS_A_DAY = 48;
/** After so many slots a half hour counts for 1/e of what it did. */
const FADES_AFTER = 7 * SLOTS_A_DAY;
/** The weight of another time of day, if the same one counts for so much more. */
const ANY_TIME = 0.5;
/** How far the same time of day reaches, as a standard deviation in slots. */
const SAME_TIME = 4;

/** The weight of a half hour by how many slots of the day lie between. */
const WEIGHTS = Array.from({ length: SLOTS_A_DAY }, (_, slots) => {
  const distance = Math.min(slots, SLOTS_A_DAY - slots);
  return ANY_TIME + Math.exp(-((distance / SAME_TIME) ** 2) / 2);
});

export class FadingSum {
  /** By time of day. In each, later slots count for more. */
  readonly #sums = new Array<number>(SLOTS_A_DAY).fill(0);

  /** `slot`: the number of the half hour, counted from any one. */
  add(slot: number, amount: number): void {
    const time = slot % SLOTS_A_DAY;
    this.#sums[time] = (this.#sums[time] ?? 0) + amount * Math.exp(slot / FADES_AFTER);
  }

  /** The sum as it counts in a half hour after all those that were added. */
  at(slot: number): number {
    let total = 0;
    for (let time = 0; time < SLOTS_A_DAY; time++)
      total += (this.#sums[time] ?? 0) * (WEIGHTS[(slot - time + SLOTS_A_DAY) % SLOTS_A_DAY] ?? 0);
    return total * Math.exp(-slot / FADES_AFTER);
  }
}
