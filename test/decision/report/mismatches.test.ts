import { expect, it } from 'vitest';
import { type PoolName, plusMs, type TaskArn } from '../../../lambda/decision/model/brands.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import { SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { judgeMismatches } from '../../../lambda/decision/report/mismatches.ts';
import { NOW } from '../../support/parts.ts';

const pool = 'cpu' as PoolName;
const [a, b] = ['arn:a', 'arn:b'] as TaskArn[];
const unguarded = (...tasks: (TaskArn | undefined)[]): Finding => ({
  code: 'tasks-unguarded',
  pool,
  tasks: tasks.flatMap((task) => task ?? []),
});
const counted: Finding = { code: 'tasks-fewer-than-counted', pool, counted: 2, seen: 1 };
const lost: Finding = { code: 'jobs-empty-while-busy', organization: 'default', daemons: 1 };
const missing: Finding = { code: 'service-missing', pool };

const since = (seconds: number, ...findings: readonly Finding[]) => {
  const from = plusMs(NOW, -seconds * SECOND_MS);
  const { mismatches } = judgeMismatches(findings, undefined, NOW);
  return { mismatches: Object.fromEntries(mismatches.map((key) => [key, from])), refused: [] };
};

it.each([
  { remembered: undefined, found: [counted], expected: [counted], because: 'a person looks once' },
  { remembered: since(0), found: [counted], expected: [], because: 'the first look proves nothing' },
  { remembered: since(49, counted), found: [counted], expected: [], because: 'a list may be as old' },
  { remembered: since(49, lost), found: [lost], expected: [], because: 'a list may be as old' },
  { remembered: since(50, counted), found: [counted], expected: [counted], because: 'no list is so old' },
  { remembered: since(0), found: [missing], expected: [missing], because: 'one list alone shows it' },
  {
    remembered: since(239, unguarded(a)),
    found: [unguarded(a)],
    expected: [],
    because: 'the guard of a daemon that has died ends the task by then',
  },
  {
    remembered: since(240, unguarded(a)),
    found: [unguarded(a, b)],
    expected: [unguarded(a)],
    because: 'each task has its own age',
  },
])('reports $expected of the mismatches $found, since $because', ({ remembered, found, expected }) => {
  expect(judgeMismatches(found, remembered, NOW).lasting).toEqual(expected);
});
