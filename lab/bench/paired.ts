/**
 * Compares the decision with that of another checkout, such as a worktree of an earlier commit. Both decide in turn, in
 * new processes, and only processor time counts: what else the machine does slows both.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serialize } from 'node:v8';
import type { DecisionFigures, FleetFile } from './decision-process.ts';
import { type FleetSize, makeFleet } from './fleet.ts';
import { observeFleet } from './serve.ts';

export type Compared = {
  /** The processor time of this checkout by that of the other, of each pair, in ascending order. */
  readonly ratios: readonly number[];
  readonly isSamePlan: boolean;
};

type Pairs = {
  readonly size: FleetSize;
  readonly seed: number;
  readonly pairs: number;
  /** The decisions of each process. */
  readonly runs: number;
};

const HERE = fileURLToPath(new URL('../..', import.meta.url));
const PROCESS = fileURLToPath(new URL('decision-process.ts', import.meta.url));

export async function compareDecision(other: string, { size, seed, pairs, runs }: Pairs): Promise<Compared> {
  const fleet = makeFleet(size, seed);
  const { snapshot } = await observeFleet(fleet);
  const config = fleet.config('https://coder.example.com');
  const dir = join(HERE, 'dist/bench');
  const file = join(dir, 'fleet.v8');
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, serialize({ snapshot, config } satisfies FleetFile));
  const decideIn = (checkout: string): DecisionFigures =>
    JSON.parse(
      execFileSync(process.execPath, [PROCESS, checkout, file, String(runs)], {
        ...{ encoding: 'utf8', maxBuffer: Number.POSITIVE_INFINITY },
      }),
    );
  const compared = Array.from({ length: pairs }, () => ({ own: decideIn(HERE), before: decideIn(other) }));
  return {
    ratios: compared.map(({ own, before }) => own.cpuMs / before.cpuMs).toSorted((a, b) => a - b),
    isSamePlan: compared.every(({ own, before }) => own.plan === before.plan),
  };
}
