/** Checks a pool's task definition against the configuration and this version of the guard. */
import { readFileSync } from 'node:fs';
import { provisionerOf, type TaskDefinition } from '../../lambda/adapters/ecs/task-definitions.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { type Check, fail, ok, warn } from './base/check.ts';

const guard = readFileSync(new URL('../../guard/guard.sh', import.meta.url), 'utf8');
/**
 * A text in every version of the guard: the agent's path for a task's own protection
 * (docs/internals/aws.md §1).
 */
const OF_ANY_GUARD = 'task-protection/v1/state';

export function checkGuard({ name: pool }: PoolConfig, definition: TaskDefinition): Check {
  const name = `pool "${pool}": guard`;
  const words = [
    ...(provisionerOf(definition)?.entryPoint ?? []),
    ...(provisionerOf(definition)?.command ?? []),
  ];
  if (words.includes(guard)) return ok(name, 'has this version');
  if (words.some((word) => word.includes(OF_ANY_GUARD)))
    return warn(name, 'has another version. Deploy (cdk deploy) to get this version');
  return fail(
    name,
    'is not the entry point of the tasks, so ECS may stop running builds. Deploy (cdk deploy), or set scaleIn: confirm',
  );
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
  const differences = other.map(({ what, runs, wanted }) => `${what} ${runs ?? 'none'} instead of ${wanted}`);
  return warn(name, `has ${differences.join(', ')}. Deploy (cdk deploy) to apply the configuration`);
}
