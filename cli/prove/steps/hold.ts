/** Lowers the count: ECS must keep both protected tasks, and the service must tell that it was unable to scale in. */
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { seconds } from '../../../lambda/explain/format.ts';
import { InputError } from '../../shared/cli-environment.ts';
import type { Bench } from '../bench/bench.ts';
import { fateOf, lossText, type Seen } from '../bench/fate.ts';
import { type Pair, TASKS } from './start.ts';

export const HOLD_MS = MINUTE_MS;
/** Until the service has told it. */
const TOLD_MS = 3 * MINUTE_MS;
/** docs/internals/aws.md §1 */
const UNABLE = 'was unable to scale in';

export async function lowerCount(bench: Bench, { busy, idle }: Pair): Promise<void> {
  await bench.setCount(0);
  const loweredAt = bench.awsNow();
  const from = bench.now();
  let chosen = 0;
  let lost: Seen | undefined | null = null;
  const told = await bench.wait(TOLD_MS, async () => {
    const { events } = await bench.service();
    const tasks = await bench.tasks([busy, idle]);
    const own = [busy, idle].map(({ taskArn }) => tasks.find((task) => task.taskArn === taskArn));
    chosen = own.filter((task) => fateOf(task) === 'chosen').length;
    const at = own.findIndex((task) => fateOf(task) === 'lost');
    if (at >= 0) lost = own[at];
    if (chosen > 0 || at >= 0) return 'ended';
    const isTold = events.some((event) => event.createdAt >= loweredAt && event.message.includes(UNABLE));
    return isTold && bench.now() - from >= HOLD_MS ? 'told' : undefined;
  });
  const within = seconds(bench.now() - from);
  const measured = `ECS stopped ${chosen} of ${TASKS} protected tasks within ${within}`;
  if (chosen > 0) {
    bench.note('protected-tasks-stay', false, measured);
    throw new InputError('ECS stopped a protected task, so the rest was not tried');
  }
  if (lost !== null) throw new InputError(lossText(lost));
  const event = told === 'told' ? `told that it ${UNABLE}` : `told no event that it ${UNABLE}`;
  bench.note('protected-tasks-stay', told === 'told' || undefined, `${measured}; its service ${event}`);
}
