/** Reads the pools' tasks from ECS and derives advice. Without samples there is none. */
import { EcsAdapter } from '../../../lambda/adapters/ecs/ecs.ts';
import { makeClients } from '../../../lambda/connect.ts';
import type { Config, PoolConfig } from '../../../lambda/decision/model/config.ts';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import type { Reading } from '../../../lambda/decision/model/snapshot.ts';
import { checkAwsSetup, withAdvice } from '../../shared/aws-advice.ts';
import { optionsFor, type PullOption } from './options.ts';
import { type PullFigures, pullFigures } from './pulls.ts';

export type Advice =
  | {
      readonly kind: 'measured';
      readonly pools: readonly PoolAdvice[];
      readonly unmeasured: readonly string[];
    }
  | { readonly kind: 'none'; readonly why: string };

export type PoolAdvice = PullFigures & { readonly options: readonly PullOption[] };

const ANSWER_MS = 10_000;

/** Does not throw: the files of the image are worth having without advice. */
export async function readAdvice(
  config: Pick<Config, 'coder'>,
  pools: readonly PoolConfig[],
  cluster: string | undefined,
): Promise<Advice> {
  if (cluster === undefined)
    return { kind: 'none', why: 'no ECS cluster is given: add --cluster NAME, or set AUTOSCALER_CLUSTER' };
  const clients = makeClients(config, undefined, { until: AbortSignal.timeout(ANSWER_MS) });
  try {
    await checkAwsSetup(clients.ecs);
    return await measure(new EcsAdapter(clients.ecs, cluster), pools);
  } catch (cause) {
    return { kind: 'none', why: messageOf(cause) };
  } finally {
    await clients.close();
  }
}

async function measure(ecs: EcsAdapter, pools: readonly PoolConfig[]): Promise<Advice> {
  const services = await ecs.services();
  if (services.status !== 'ok') return unread(services);
  const tasks = await ecs.tasks(services.items);
  if (tasks.status !== 'ok') return unread(tasks);
  return adviceFrom(pullFigures(pools, services.items, tasks.items), pools);
}

function unread({ error, status }: Pick<Reading<unknown>, 'error' | 'status'>): Advice {
  return { kind: 'none', why: withAdvice(error ?? `a list of ECS is ${status}`) };
}

function adviceFrom(figures: readonly PullFigures[], pools: readonly Pick<PoolConfig, 'name'>[]): Advice {
  const unmeasured = pools
    .map(({ name }) => name)
    .filter((name) => !figures.some(({ pool }) => pool === name));
  if (figures.length === 0)
    return {
      kind: 'none',
      why: 'ECS lists no task of these pools that has pulled its present image. It forgets stopped tasks after about an hour: run this again while tasks run',
    };
  return {
    kind: 'measured',
    pools: figures.map((each) => ({ ...each, options: optionsFor(each) })),
    unmeasured,
  };
}
