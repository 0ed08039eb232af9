/**
 * Findings that compare two lists of different moments. One look alone proves nothing: a mismatch is
 * reported once looks have seen it for longer than a list of ECS may be old. It holds as before.
 */
import type { EpochMs } from '../model/brands.ts';
import { ownValue } from '../model/collections.ts';
import { type Doubt, type Finding, mismatchKey } from '../model/plan.ts';
import type { Remembered } from '../model/snapshot.ts';
import { MINUTE_MS } from '../model/units.ts';

/** Longer than a read of ECS is old, shorter than a minute: the time between two looks. */
const LASTS_MS = 50_000;
/** A daemon that has died keeps its job in coderd while its guard waits, before it ends the task. */
const DIES_MS = 4 * MINUTE_MS;

/** Tells the findings that hold, and the keys of all mismatches that this look has seen, for the next look. */
export function judgeMismatches(
  findings: readonly Finding[],
  remembered: Remembered | undefined,
  now: EpochMs,
): { readonly lasting: readonly Finding[]; readonly mismatches: readonly string[] } {
  return { lasting: lastingFindings(findings, remembered, now), mismatches: mismatchesOf(findings) };
}

function mismatchesOf(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap((finding) => {
    const items = itemsOf(finding);
    return items?.map((item) => keyOf(finding, item)) ?? [];
  });
}

/** Without the mismatches that are too young. Without a memory all are reported: a person asks once. */
function lastingFindings(
  findings: readonly Finding[],
  remembered: Remembered | undefined,
  now: EpochMs,
): readonly Finding[] {
  if (remembered === undefined) return findings;
  return findings.flatMap((finding) => {
    const lasting = itemsOf(finding)?.filter(
      (item) => now - (ownValue(remembered.mismatches, keyOf(finding, item)) ?? now) >= lastsMs(finding),
    );
    if (lasting === undefined) return [finding];
    return lasting.length === 0 ? [] : [withItems(finding, lasting)];
  });
}

const lastsMs = ({ code }: Finding): number => (code === 'tasks-unguarded' ? DIES_MS : LASTS_MS);

/** The parts of a mismatch, each with its own age. Undefined: the finding is none. */
function itemsOf(finding: Finding): readonly string[] | undefined {
  switch (finding.code) {
    case 'tasks-unguarded':
      return finding.tasks;
    case 'daemons-without-task':
      return finding.daemons;
    case 'daemons-empty-while-leased':
    case 'jobs-empty-while-busy':
      return [finding.organization];
    case 'tasks-fewer-than-counted':
      return [finding.pool];
    default:
      return undefined;
  }
}

/** Whether one look alone proves nothing about this doubt. */
export function isMismatch(code: Doubt): boolean {
  return MISMATCHES.has(code);
}

const MISMATCHES: ReadonlySet<Doubt> = new Set<Doubt>([
  'daemons-empty-while-leased',
  'jobs-empty-while-busy',
  'tasks-fewer-than-counted',
]);

function withItems(finding: Finding, items: readonly string[]): Finding {
  if (finding.code === 'tasks-unguarded')
    return { ...finding, tasks: finding.tasks.filter((task) => items.includes(task)) };
  return finding.code === 'daemons-without-task' ? { ...finding, daemons: items } : finding;
}

const keyOf = ({ code }: Finding, item: string): string => mismatchKey(code, item);
