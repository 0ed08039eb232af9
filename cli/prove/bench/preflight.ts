/**
 * Whether a pool may be used for the experiment: it has no task and no override, and no build but that of the
 * experiment can run in it. What cannot be read is a reason to refuse.
 */
import type { Config, PoolConfig } from '../../../lambda/decision/model/config.ts';
import { STACK_TAG, tagOf } from '../../../lambda/decision/model/service-tags.ts';
import type { OrganizationReadings, Service, Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { canRun, displayTags, type Tags } from '../../../lambda/decision/model/tags.ts';
import { deriveOverrides } from '../../../lambda/decision/settings/overrides.ts';
import { nameInParts } from '../../../lambda/decision/supply/rows/daemons.ts';
import { some } from '../../../lambda/explain/format.ts';
import type { TemplateTags } from '../../adapters/templates.ts';
import { findLogGroup } from '../../logs/function-log.ts';
import { InputError } from '../../shared/cli-environment.ts';
import { unreadLists } from '../../shared/live.ts';
import { findPool, findService } from '../../shared/override-target.ts';

export type Place = ReturnType<typeof findPlace>;
type Templates = readonly TemplateTags[];

/** Throws InputError with the reason if the pool must not be used. */
export function findPlace(name: string, config: Config, snapshot: Snapshot, templates: Templates) {
  const pool = findPool(name, config.pools);
  const refusal = (why: string) => new InputError(`proving in pool "${name}": ${why}`);
  const unread = unreadLists(snapshot)[0];
  if (unread !== undefined) throw refusal(`it must be sure that no other build can run there. ${unread}`);
  const organization = snapshot.coder.organizations.find((each) => isIn(pool, each));
  const service = findService(name, snapshot.ecs.services);
  const log = findLogGroup(snapshot.ecs.services.items, config);
  const stack = tagOf(service, STACK_TAG);
  if (organization === undefined || log === undefined || stack === undefined)
    throw refusal('its organization, stack or log group is unknown. Run autoscaler doctor');
  const why = useOf(pool, service, snapshot) ?? othersIn(pool, organization, config, templates);
  if (why !== undefined) throw refusal(why);
  return { pool, organization, service, stack, log };
}

const isIn = ({ organization }: PoolConfig, { id, name }: OrganizationReadings): boolean =>
  organization === name || organization === id;

/** Why the pool is not free, if so. */
function useOf(pool: PoolConfig, service: Service, { takenAt, ecs }: Snapshot): string | undefined {
  if (pool.retiring) return 'it is retiring';
  if (deriveOverrides(service, takenAt).active.length > 0)
    return `it has an override. Run: autoscaler resume ${pool.name}, or autoscaler unpin ${pool.name}`;
  const group = `service:${service.serviceName}`;
  const tasks = ecs.tasks.items.filter((task) => task.group === group && task.desiredStatus !== 'STOPPED');
  if (service.desiredCount === 0 && tasks.length === 0) return undefined;
  return `it has ${some(tasks.length, 'task')} and a desired count of ${service.desiredCount}. Use a pool of its own with min: 0 and warm: 0, and wait until it has none`;
}

/** Whose builds could run in the pool, or who could take its build, if so. */
function othersIn(
  { name, tags }: PoolConfig,
  organization: OrganizationReadings,
  config: Config,
  templates: Templates,
): string | undefined {
  const { workspaces, jobs, daemons } = organization;
  if (tags.scope === 'user' || Object.keys(displayTags(tags)).length === 0)
    return 'a pool without a tag of its own gets other builds. Give it a tag that no template has, and deploy it';
  if (workspaces === undefined)
    return 'workspaces are unknown, as no pool of its organization has wake: true';
  const runsHere = (of: { readonly tags?: Tags | null | undefined }) => !of.tags || canRun(tags, of.tags);
  const [why] = [
    ...templates
      .filter((each) => each.organization === organization.id && runsHere(each))
      .map((each) => `builds of template "${each.name}" can run there`),
    ...workspaces.items
      .filter(({ latest_build: { job } }) => runsHere(job))
      .map((each) => `builds of workspace "${each.name ?? each.id}" can run there`),
    ...jobs.items.filter(runsHere).map(({ id, status }) => `job ${id} (${status}) can run there`),
    ...daemons.items
      .filter((each) => each.status !== 'offline' && canRun(each.tags, tags))
      .filter((each) => nameInParts(each.name).pool !== name)
      .map((each) => `daemon "${each.name}" could take its build`),
    ...config.pools
      .filter((each) => each.name !== name && isIn(each, organization) && canRun(each.tags, tags))
      .map((each) => `pool "${each.name}" could take its build`),
  ];
  return why && `${why}. Use a pool with a tag that no template, no daemon and no other pool has`;
}
