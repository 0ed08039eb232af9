/**
 * The pairs of CPU and memory that Fargate (Linux) has. Source: "Troubleshoot Amazon ECS task
 * definition invalid CPU or memory errors",
 * docs.aws.amazon.com/AmazonECS/latest/developerguide/task-cpu-memory-error.html
 * (docs/internals/aws.md §2).
 */

/** Memory in MiB by CPU in units (1024 = 1 vCPU). */
const MEMORIES: ReadonlyMap<number, readonly number[]> = new Map([
  [256, [512, 1024, 2048]],
  [512, steps({ from: 1024, to: 4096, by: 1024 })],
  [1024, steps({ from: 2048, to: 8192, by: 1024 })],
  [2048, steps({ from: 4096, to: 16_384, by: 1024 })],
  [4096, steps({ from: 8192, to: 30_720, by: 1024 })],
  [8192, steps({ from: 16_384, to: 61_440, by: 4096 })],
  [16_384, steps({ from: 32_768, to: 122_880, by: 8192 })],
]);

/** All sizes of CPU, in units. */
export const FARGATE_CPUS: readonly number[] = [...MEMORIES.keys()];
/** The smallest and the largest memory, in MiB. */
export const FARGATE_MEMORY = { min: 512, max: 122_880 } as const;

/** The memory sizes, in MiB, that go with a CPU size. */
export function memoriesFor(cpu: number): readonly number[] {
  return MEMORIES.get(cpu) ?? [];
}

/** The CPU sizes, in units, that go with a memory size in MiB. */
export function cpusFor(memory: number): readonly number[] {
  return FARGATE_CPUS.filter((cpu) => memoriesFor(cpu).includes(memory));
}

/** The memory sizes for a CPU size as text: a list, or a range with its step if that is shorter. */
export function describeMemories(cpu: number): string {
  const all = memoriesFor(cpu);
  const [first = 0, second = 0] = all;
  return all.length <= 7 ? all.join(', ') : `${first} to ${all.at(-1)} in steps of ${second - first}`;
}

function steps({ from, to, by }: { from: number; to: number; by: number }): number[] {
  return Array.from({ length: (to - from) / by + 1 }, (_, step) => from + step * by);
}
