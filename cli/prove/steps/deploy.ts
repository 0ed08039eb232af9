/** A rolling deployment while the build runs: the busy task holds it open. Then more tasks are protected than desired, too. */
import { UpdateServiceCommand } from '@aws-sdk/client-ecs';
import { isRefusal } from '../../../lambda/adapters/ecs/ecs.ts';
import { MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { seconds } from '../../../lambda/explain/format.ts';
import { InputError } from '../../shared/cli-environment.ts';
import type { Bench } from '../bench/bench.ts';
import { BUILD_S } from '../bench/build.ts';
import { choiceAt, fateOf, lossText, type Seen } from '../bench/fate.ts';
import type { Pair } from './start.ts';

const GRANTED = 'granted';
const BLOCKED = 'DEPLOYMENT_BLOCKED';
/** ECS does not know the task: that proves nothing. */
const MISSING = 'MISSING';
const ROLLING_MS = MINUTE_MS / 2;
const RENEW_MS = 10 * SECOND_MS;

/** ECS's answer to one renewal. `at`: AWS's time. */
type Answer = { readonly at: number; readonly isOpen: boolean; readonly answer: string };

type Renewals = {
  readonly answers: readonly Answer[];
  /** The busy task, if it was not kept until the build ended. */
  readonly gone?: { readonly task: Seen | undefined };
};

export async function deploy(bench: Bench, pair: Pair): Promise<void> {
  const { client, ecs, service } = bench.place;
  if ((await pair.build.read()).completed_at) {
    bench.note('renewal-while-blocked', undefined, 'the build had already ended');
    return finish(bench, pair, 0);
  }
  const update = { cluster: ecs.cluster, service: service.serviceArn, forceNewDeployment: true };
  await client.send(new UpdateServiceCommand({ ...update, desiredCount: 1 }));
  const rolling = await renew(bench, pair, ROLLING_MS);
  await bench.setCount(0);
  const lowered: Renewals = rolling.gone
    ? { answers: [] }
    : await renew(bench, pair, 2 * BUILD_S * SECOND_MS);
  noteRenewals(bench, rolling.answers, lowered.answers);
  const open = [...rolling.answers, ...lowered.answers].filter(({ isOpen }) => isOpen);
  const openMs = (open.at(-1)?.at ?? 0) - (open[0]?.at ?? 0);
  const gone = rolling.gone ?? lowered.gone;
  if (gone === undefined) return finish(bench, pair, openMs);
  const isChosen = fateOf(gone.task) === 'chosen';
  const measured = isChosen
    ? `ECS stopped its task while it ran, ${seconds(openMs)} later`
    : lossText(gone.task);
  bench.note('build-outlives-request', isChosen ? false : undefined, measured);
  if (!isChosen) bench.note('renewal-while-blocked', undefined, measured);
}

/** As a guard does whose build goes on after its drain request, until the build ends. */
async function renew(bench: Bench, { busy, build }: Pair, withinMs: number): Promise<Renewals> {
  const answers: Answer[] = [];
  let gone: Renewals['gone'];
  await bench.wait(
    withinMs,
    async () => {
      const [own] = await bench.tasks([busy]);
      // it may go once the build has ended
      if ((await build.read()).completed_at) return true;
      if (fateOf(own) !== 'kept') {
        gone = { task: own };
        return fateOf(own) === 'untold' ? undefined : true;
      }
      gone = undefined;
      const { deployments } = await bench.service();
      const [refused] = await bench.place.ecs.requestDrain([busy.taskArn]).catch((error) => {
        if (isRefusal(error.cause)) return [{ reason: error.cause.name }];
        throw error;
      });
      answers.push({ at: bench.awsNow(), isOpen: deployments >= 2, answer: refused?.reason ?? GRANTED });
      return undefined;
    },
    RENEW_MS,
  );
  return gone === undefined ? { answers } : { answers, gone };
}

function noteRenewals(bench: Bench, ...[rolling, lowered]: readonly [readonly Answer[], readonly Answer[]]) {
  const open = [...rolling, ...lowered].filter(({ isOpen }) => isOpen);
  const refused = open.filter(({ answer }) => answer !== GRANTED);
  if (open.length === 0)
    return bench.note('renewal-while-blocked', undefined, 'ECS never listed two deployments');
  const isKnown = refused.every(({ answer }) => answer === BLOCKED);
  const isMissing = refused.every(({ answer }) => answer === BLOCKED || answer === MISSING);
  const drains = isKnown ? '. Guards drain if a deployment lasts for 40 min' : '';
  const so = refused.length === 0 ? `. ${BLOCKED} was not seen within the experiment` : drains;
  const measured = `in a rolling deployment: ${counts(rolling)}; then with a desired count of 0: ${counts(lowered)}`;
  bench.note('renewal-while-blocked', isKnown || (isMissing ? undefined : false), `${measured}${so}`);
}

function counts(answers: readonly Answer[]): string {
  const groups = [...Map.groupBy(answers, ({ answer }) => answer)];
  return groups.map(([answer, all]) => `${all.length} × ${answer}`).join(', ') || 'not tried';
}

/** The daemon exits once its build has ended; coderd's clock is not asked. */
async function finish(bench: Bench, { busy, build }: Pair, openMs: number): Promise<void> {
  const { status, error, completed_at: endedAt } = await build.read();
  if (!endedAt) throw new InputError(`the build did not end within ${2 * BUILD_S} s`);
  const result = `${status}${error ? `: ${error}` : ''}`;
  if (status !== 'succeeded')
    return bench.note('build-outlives-request', false, `${result}; its task was kept`);
  let own: Seen | undefined;
  const seen = await bench.wait(2 * MINUTE_MS, async () => {
    [own] = await bench.tasks([busy]);
    const fate = fateOf(own);
    return fate === 'chosen' || fate === 'lost' ? { at: bench.awsNow() } : undefined;
  });
  const exit = await bench.guardLine(busy, ({ why }) => why === 'daemon-exited');
  const note = (isOk: boolean | undefined, task: string) =>
    bench.note('build-outlives-request', isOk, `${result}; ${task}`);
  if (seen === undefined) return note(undefined, 'its task is still there 2 min later');
  if (own === undefined || fateOf(own) !== 'chosen') return note(undefined, lossText(own));
  if (typeof exit === 'string') return note(undefined, `the exit of its daemon: ${exit}`);
  if (openMs === 0) return note(undefined, 'ECS never listed two deployments');
  const laterMs = choiceAt(own, { seenAt: seen.at, events: (await bench.service()).events }) - exit.at;
  // its answers are dated to the second
  const isBefore = exit.state !== 'left' || laterMs < -SECOND_MS;
  const when = isBefore
    ? 'before its daemon had exited'
    : `${seconds(Math.max(0, laterMs))} after its daemon had exited`;
  note(!isBefore, `the deployment was open for ${seconds(openMs)}; ECS stopped its task ${when}`);
}
