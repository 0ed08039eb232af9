/** The function's ports while one of its routes is closed, or an organization is gone. */
import type { Ports } from '../../../../../lambda/look/ports.ts';
import { failed } from '../../../../support/without-coderd.ts';

/** While ECS does not answer. */
export function withoutEcs({ ecs, ...ports }: Ports): Ports {
  // its methods are those of a class with private fields
  const own: Ports['ecs'] = {
    cluster: ecs.cluster,
    stack: ecs.stack,
    ownsCluster: ecs.ownsCluster,
    services: () => failed('listing services'),
    tasks: () => failed('listing tasks'),
    protections: () => failed('reading task protections'),
    setDesired: (...of) => ecs.setDesired(...of),
    requestDrain: (...of) => ecs.requestDrain(...of),
    protect: (...of) => ecs.protect(...of),
  };
  return { ...ports, ecs: own };
}

/** While coderd does not list an organization. */
export function withoutOrganization({ coderd, ...ports }: Ports, deleted: string): Ports {
  const organizations: Ports['coderd']['organizations'] = async () => {
    const known = await coderd.organizations();
    return { ...known, items: known.items.filter(({ name }) => name !== deleted) };
  };
  const own: Ports['coderd'] = {
    organizations,
    buildInfo: () => coderd.buildInfo(),
    jobs: (...of) => coderd.jobs(...of),
    daemons: (...of) => coderd.daemons(...of),
    jobsByIds: (...of) => coderd.jobsByIds(...of),
    forecast: (...of) => coderd.forecast(...of),
    recentJobs: (...of) => coderd.recentJobs(...of),
    knowsEnd: (...of) => coderd.knowsEnd(...of),
    gone: (...of) => coderd.gone(...of),
    tokenExpiry: (...of) => coderd.tokenExpiry(...of),
    license: (...of) => coderd.license(...of),
  };
  return { ...ports, coderd: own };
}
