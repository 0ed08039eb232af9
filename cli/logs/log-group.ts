/** Finds the function's log group by the tags of the pools' ECS services. */
import type { Config } from '../../lambda/decision/model/config.ts';
import { LOG_GROUP_TAG, POOL_TAG, STACK_TAG, tagOf } from '../../lambda/decision/model/service-tags.ts';
import type { Service } from '../../lambda/decision/model/snapshot.ts';

export type LogGroup = {
  readonly group: string;
  /** The stack of the deployment; undefined: unknown. Several deployments may share a log group. */
  readonly service: string | undefined;
};

/**
 * Undefined if no service names a log group. Several deployments may share a cluster: services of
 * configured pools come first.
 */
export function findLogGroup(
  services: readonly Service[],
  { pools }: Pick<Config, 'pools'>,
): LogGroup | undefined {
  const naming = services.filter((service) => tagOf(service, LOG_GROUP_TAG));
  const names = new Set<string | undefined>(pools.map(({ name }) => name));
  const first = naming.find((service) => names.has(tagOf(service, POOL_TAG))) ?? naming[0];
  const group = first && tagOf(first, LOG_GROUP_TAG);
  return group === undefined ? undefined : { group, service: tagOf(first ?? { tags: [] }, STACK_TAG) };
}

/** The command of Logs Insights that keeps the lines of a deployment with one of these messages. */
export function linesOf(messages: readonly string[], service: string | undefined): string {
  const [message] = messages;
  const lines =
    messages.length === 1
      ? `filter message = ${JSON.stringify(message)}`
      : `filter message in ${JSON.stringify(messages)}`;
  return service === undefined ? lines : `${lines} and service = "${service}"`;
}
