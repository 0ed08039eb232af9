/** The function's ports while one of its routes is closed, or an organization is gone. */

import type { Reading } from '../../../../../lambda/decision/model/snapshot.ts';
import type { Ports } from '../../../../../lambda/look/ports.ts';
import { withoutCoderd } from '../../../../support/without-coderd.ts';

const unreachable = (what: string, why: string) => async (): Promise<Reading<never>> => ({
  ...{ status: 'failed', error: `${what}: ${why}`, items: [] },
});

const NO_CODERD =
  'no answer from coderd (Connect Timeout Error); check routes, security groups and firewalls; if coderd is reachable only through a proxy, set coder.proxy';

/** While the function has no way to coderd. */
export function withoutRouteToCoderd(ports: Ports): Ports {
  const { coderd, ...others } = withoutCoderd(ports);
  const organizations = unreachable('listing organizations', NO_CODERD);
  return { ...others, coderd: { ...coderd, organizations } };
}

const NO_ECS = 'request timed out; AWS did not answer';

/** While the function has no way to ECS. */
export function withoutRouteToEcs({ ecs, ...ports }: Ports): Ports {
  // its methods are those of a class with private fields
  const own: Ports['ecs'] = {
    cluster: ecs.cluster,
    stack: ecs.stack,
    ownsCluster: ecs.ownsCluster,
    services: unreachable('listing services of cluster "Stack-Cluster-AbC123"', NO_ECS),
    tasks: unreachable('listing tasks of cluster "Stack-Cluster-AbC123"', NO_ECS),
    protections: unreachable('reading task protection in cluster "Stack-Cluster-AbC123"', NO_ECS),
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
