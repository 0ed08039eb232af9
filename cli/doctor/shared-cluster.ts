/** Checks whether builds of one organization can end builds of another (SECURITY.md, docs/deploy.md). */
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { few } from '../../lambda/explain/format.ts';
import { type Check, ok, warn } from './check/check.ts';

const NAME = 'shared cluster';

/** No check without pools of several organizations, or if a person has said that they may share. */
export function checkSharing({ pools: all, aws }: Deployment): readonly Check[] {
  const pools = all.filter(({ retiring }) => !retiring);
  const organizations = [...new Set(pools.map(({ organization }) => organization))];
  if (organizations.length < 2 || aws.bindTaskRoles === false) return [];
  const unbound = pools.filter(({ bindTaskRole }) => bindTaskRole !== true);
  if (unbound.length === 0)
    return [ok(NAME, 'a build can change the protection of tasks of its own pool only')];
  const shared = `organizations ${few(organizations)} share one cluster`;
  const who = aws.bindTaskRoles ? few(unbound.map(({ name }) => `"${name}"`)) : 'any pool';
  const own = unbound.filter(({ taskRole }) => taskRole.kind === 'existing').map(({ name }) => `"${name}"`);
  const yours =
    own.length === 0 ? '' : `. Bind the roles of ${few(own)} yourself: they are yours (taskRole.arn)`;
  const bind = aws.bindTaskRoles
    ? ''
    : ', or set aws.bindTaskRoles: true once the row bound-role of autoscaler prove is ok';
  return [
    warn(
      NAME,
      `${shared}, where a build of ${who} can end builds of all others. Give each a stack with a cluster of its own${bind}${yours}. bindTaskRoles: false says that they may (docs/deploy.md, "Shared clusters")`,
    ),
  ];
}
