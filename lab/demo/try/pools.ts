/** The pools of `npm run try`, their configuration, and what a deployment gives their tasks. */
import { stringify } from 'yaml';
import { DEFAULT_RELEASE } from '../../world/coderd/rules/versions.ts';
import type { PoolSpec } from '../../world/world.ts';

const IMAGE = `ghcr.io/coder/coder:${DEFAULT_RELEASE}`;

/** `web` has no builds but those of schedules, so it is at zero most of the time. */
export const POOLS: readonly PoolSpec[] = [
  { name: 'default', organization: 'default', tags: {} },
  { name: 'gpu', organization: 'default', tags: { cluster: 'gpu' } },
  { name: 'data', organization: 'data', tags: { team: 'data' } },
  { name: 'web', organization: 'default', tags: { team: 'web' } },
].map(idle);

/** For `autoscaler prove`: no template has its tag. */
export const PROVE: PoolSpec = idle({ name: 'proving', organization: 'default', tags: { proving: 'yes' } });

function idle(pool: PoolSpec): PoolSpec {
  return { ...pool, desiredCount: 0, template: { image: IMAGE } };
}

const MAX = 8;

/** As a user writes it. `default` keeps free daemons; the others scale in to zero, to show more. */
export function tryConfig(coderdUrl: string, pools = POOLS): string {
  const config = {
    coder: { url: coderdUrl, token: { secret: 'coder/autoscaler-token' } },
    looks: { every: '2s' },
    limits: { maxTasks: 40 },
    // one company: builds of one organization may end those of the other
    aws: { bindTaskRoles: false },
    defaults: { image: IMAGE },
    pools: pools.map(({ name, organization, tags }) => {
      const key = { secret: `coder/keys/${name}` };
      const warm = name === 'default' ? {} : { warm: 0 };
      return { name, organization, tags, key, max: MAX, ...warm, startTime: '15s' };
    }),
  };
  return `# The configuration of npm run try. Its coderd and its ECS are simulated.\n${stringify(config)}`;
}
