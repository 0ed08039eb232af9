/** Does what runs agree with the configuration and with this version of the guard? */
import { readFileSync } from 'node:fs';
import type { TaskDefinition } from '../../lambda/adapters/ecs/task-definitions.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { type Check, fail, ok, warn } from './check.ts';

const guard = readFileSync(new URL('../../guard/guard.sh', import.meta.url), 'utf8');
/**
 * What the guard can't do without: the agent's path where a task protects itself (docs/aws.md §1).
 */
const OF_ANY_GUARD = 'task-protection/v1/state';

type Container = TaskDefinition['containerDefinitions'][number];

export function checkGuard({ name: pool }: PoolConfig, definition: TaskDefinition): Check {
  const name = `pool "${pool}": guard`;
  const words = [
    ...(provisionerOf(definition)?.entryPoint ?? []),
    ...(provisionerOf(definition)?.command ?? []),
  ];
  if (words.includes(guard)) return ok(name, "is this version's");
  if (words.some((word) => word.includes(OF_ANY_GUARD)))
    return warn(name, 'is of another version; deploy (cdk deploy) to have the one of this version');
  return fail(
    name,
    'is not in the entry point of its tasks, so nothing keeps a build from being stopped; deploy (cdk deploy), or write scaleIn: confirm',
  );
}

/** The pool's container: ours is the only one unless somebody has added others. */
function provisionerOf({ containerDefinitions }: TaskDefinition): Container | undefined {
  return containerDefinitions.find(({ name }) => name === 'provisioner') ?? containerDefinitions[0];
}

export function checkMakeUp(name: string, pool: PoolConfig, definition: TaskDefinition): Check {
  const { cpu, memory, runtimePlatform } = definition;
  const pairs = [
    { what: 'image', runs: provisionerOf(definition)?.image, wanted: pool.image },
    { what: 'cpu', runs: cpu, wanted: `${pool.cpu}` },
    { what: 'memory', runs: memory, wanted: `${pool.memory}` },
    {
      what: 'architecture',
      runs: runtimePlatform?.cpuArchitecture?.toLowerCase(),
      wanted: pool.architecture,
    },
  ];
  const other = pairs.filter(({ runs, wanted }) => runs !== wanted);
  if (other.length === 0) return ok(name, `${pool.image}, ${pool.cpu} CPU units, ${pool.memory} MiB`);
  const said = other.map(({ what, runs, wanted }) => `${what} ${runs ?? 'none'} instead of ${wanted}`);
  return warn(name, `runs ${said.join(', ')}; deploy (cdk deploy) to have what the configuration says`);
}
