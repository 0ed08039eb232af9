/** Plays a cause: a quiet time, the cause, a person who looks, and the end. */
import type { commandLabs } from '../../../../support/command-lab.ts';
import type { RungAlarm } from '../cloudwatch.ts';
import type { Cause } from './causes/cause.ts';
import { CPU, Night } from './night.ts';

/** Minutes count from the cause. */
export type Played = {
  readonly cause: Cause;
  readonly rung: readonly RungAlarm[];
  /** When a person looked with the commands. */
  readonly lookedAt: number;
  readonly status: string;
  /** With `--explain`. */
  readonly whole: string;
  readonly doctor: string;
  readonly mendedAt: number;
  readonly builds: { readonly lost: number; readonly failedByCoderd: number };
};

const QUIET = 6;
const LASTS = 40;
const AFTERWARDS = 75;
/** From the first mail until the person is at the terminal. */
const TO_TERMINAL = 3;
/** When somebody looks who got no mail. */
const UNTOLD = 20;

export async function play(start: ReturnType<typeof commandLabs>['start'], cause: Cause): Promise<Played> {
  const {
    pools = [CPU],
    options,
    settings,
    prepare,
    before = QUIET,
    lasts = LASTS,
    after = AFTERWARDS,
  } = cause;
  const night = new Night(await start({ pools, ...options }, settings));
  prepare?.(night);
  await night.pass(before);
  await cause.begin(night);
  let looked: Pick<Played, 'lookedAt' | 'status' | 'whole' | 'doctor'> | undefined;
  const rungBy = (): readonly RungAlarm[] => night.cloudWatch.rung(before);
  for (let minute = 1; minute <= lasts; minute++) {
    await night.pass(1);
    const [first] = rungBy();
    const isTime = first === undefined ? minute === UNTOLD : minute === first.from + TO_TERMINAL;
    if (isTime || (minute === lasts && looked === undefined))
      looked = { lookedAt: minute, ...(await look(night)) };
  }
  await cause.mend(night);
  await night.pass(after);
  const jobs = night.world.coderd.jobs();
  return {
    cause,
    rung: rungBy(),
    ...(looked ?? { lookedAt: 0, status: '', whole: '', doctor: '' }),
    mendedAt: lasts,
    builds: {
      lost: night.world.figures().killedByUs,
      failedByCoderd: jobs.filter(({ status, startedAt }) => status === 'failed' && startedAt === undefined)
        .length,
    },
  };
}

/** What a person sees in a terminal. */
async function look({ lab }: Night) {
  const plain = async (...args: readonly string[]): Promise<string> =>
    (await lab.callIn({ answerMs: 60_000, registry: 'http://127.0.0.1:1' }, ...args)).out
      .replaceAll(lab.coderdUrl, 'https://coder.example.com')
      .replaceAll(/\+[0-9a-f]{7}\b/g, '');
  return {
    status: await plain('status'),
    whole: await plain('status', '--explain'),
    doctor: await plain('doctor'),
  };
}
