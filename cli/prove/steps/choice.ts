/** One task may go now: ECS must choose the one without protection, and tell it at once. */
import { SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { seconds } from '../../../lambda/explain/format.ts';
import type { Bench } from '../bench/bench.ts';
import { choiceAt, fateOf, lossText, type Seen } from '../bench/fate.ts';
import { type Pair, TASKS } from './start.ts';

/** The guard waits 3 s, and answers of ECS are dated to the second. */
const SIGNAL_MS = 4 * SECOND_MS;

/** All times are AWS's: those of ECS's answers, events and tasks, and that of the line in CloudWatch Logs. */
export async function choose(bench: Bench, { busy, idle }: Pair): Promise<void> {
  await bench.setCount(TASKS - 1);
  const changedAt = bench.awsNow();
  let unchosenAt = changedAt;
  let own: Seen | undefined;
  const seen = await bench.wait(
    90 * SECOND_MS,
    async () => {
      const before = bench.awsNow();
      [own] = await bench.tasks([idle]);
      if (fateOf(own) !== 'kept') return { at: bench.awsNow() };
      unchosenAt = before;
      return undefined;
    },
    SECOND_MS / 2,
  );
  const isWrong = (await bench.tasks([busy])).some((task) => fateOf(task) === 'chosen');
  if (isWrong) return bench.note('choice-to-signal', false, 'ECS chose the protected task');
  if (seen === undefined) return bench.note('choice-to-signal', undefined, 'ECS chose no task within 90 s');
  // the guard has left: the signal ends it. One that comes within this second is dated before
  const line = await bench.guardLine(idle, ({ why, at }) => why === 'signal' && at >= changedAt - SECOND_MS);
  [own] = await bench.tasks([idle]);
  if (own === undefined || fateOf(own) !== 'chosen')
    return bench.note('choice-to-signal', undefined, lossText(own));
  if (typeof line === 'string') return bench.note('choice-to-signal', undefined, `the signal: ${line}`);
  const { events } = await bench.service();
  const chosenAt = choiceAt(own, { seenAt: seen.at, events });
  // reads that lag show a task as not chosen that was
  const notBefore = chosenAt < unchosenAt ? changedAt : unchosenAt;
  const least = Math.max(0, line.at - chosenAt);
  const most = line.at - notBefore;
  const isOk = most <= SIGNAL_MS ? true : least > SIGNAL_MS ? false : undefined;
  const measured = `${seconds(least)} to ${seconds(most)} from the choice to the line of its guard`;
  bench.note('choice-to-signal', isOk, measured);
}
