/**
 * Transitions that wait for people: no pool wakes for them, because every pool that could is paused
 * or pinned.
 */
import { describe, expect, it } from 'vitest';
import type { Plan, Reason } from '../../../lambda/decision/model/plan.ts';
import { type Change, failing, inWords, planOf, poolOf } from '../../support/planned.ts';
import { table } from '../../support/table.ts';

const UNTIL = '2026-11-20T10:00:00.000Z';
const paused = { pause: 'all', 'pause-until': UNTIL };
const pin = (count: number) => ({ pin: `${count}`, 'pin-until': UNTIL });
const gpu = { cluster: 'gpu' };
const gpuEu = { cluster: 'gpu', region: 'eu' };
const asleep = { tags: gpu, overrides: paused };
/** This pool could open the gate, but does not wake for it. */

/**
 * The findings about transitions in a plan: `held 2 autostop by cpu (pause)`, `late 1 autostart`.
 */
function foundIn({ findings }: Plan): readonly string[] {
  return findings.flatMap((finding) => {
    if (!('transitions' in finding)) return [];
    const what = `${finding.code.replace('transitions-', '')} ${finding.transitions} ${finding.kind}`;
    if (finding.code !== 'transitions-held') return [what];
    const pools = finding.pools.map(({ name, override }) => `${name} (${override.kind})`);
    return [`${what} by ${pools.join(', ')}`];
  });
}

const withoutLastService: Change = ({ ecs }) => {
  ecs.services.items.pop();
};

type Row = {
  readonly world: string;
  readonly change?: Change;
  readonly expected: string;
  readonly because: string;
};

it.each(table<Row>`
  world                                                                | change | expected                       | because
  cpu [gpu], paused; 2 stops 60s ago [gpu]                             |        | held 2 autostop by cpu (pause) | it would have been woken
  cpu [gpu], pin 0; 2 stops 60s ago [gpu]                              |        | held 2 autostop by cpu (pin)   | the pool should have no task
  cpu [gpu], pin 0, paused; 2 stops 60s ago [gpu]                      |        | held 2 autostop by cpu (pause) | the pause beats the pin
  cpu [gpu], pin 0, scaleInPaused; 2 stops 60s ago [gpu]               |        | held 2 autostop by cpu (pin)   | a pause of scale-in does not prevent waking
  eu [gpu eu], pin 0; cpu [gpu], paused; 2 stops 60s ago [gpu]         |        | held 2 autostop by cpu (pause), eu (pin) | either would do
  cpu [gpu], paused; stop 3600s ago [gpu]                              |        | held 1 autostop by cpu (pause) | the delay is reported once, with its cause
  cpu [gpu], paused; 2 stops 30s ago [gpu]                             |        | nothing                        | several stops share one start, so no pool would start for them yet
  cpu [gpu], paused; start in 60s [gpu]; stop 3600s ago [gpu]          |        | held 1 autostart by cpu (pause), held 1 autostop by cpu (pause) | a task would have to start now to be in time
  cpu [gpu], paused; stop in 1800s [gpu]                               |        | nothing                        | by then the pause may be over
  cpu I20m [gpu], paused; 2 stops 60s ago [gpu]                        |        | nothing                        | it stays and opens the gate
  cpu P [gpu], paused; 2 stops 60s ago [gpu]                           |        | nothing                        | it will open the gate soon
  cpu L [gpu], paused; 2 stops 60s ago [gpu]                           |        | held 2 autostop by cpu (pause) | no daemon follows it
  cpu B [gpu], pin 0; 2 stops 60s ago [gpu]                            |        | nothing                        | as long as it is there the gate is open
  cpu [gpu], pin 1; 2 stops 60s ago [gpu]                              |        | nothing                        | it brings a daemon, though not for this
  cpu [gpu], pin 1; stop 3600s ago [gpu]                               | ${failing('cpu', 3)} | late 1 autostop                | it does not wait for the pin
  cpu [gpu], floor 1; 2 stops 60s ago [gpu]                            |        | nothing                        | no pool is kept from waking
  cpu [gpu], paused; eu [gpu eu]; 2 stops 60s ago [gpu]                |        | nothing                        | it is woken instead
  cpu [gpu], paused; eu [gpu eu]; 2 stops 60s ago [gpu]                | ${withoutLastService} | held 2 autostop by cpu (pause) | there is no pool to wake
  eu [gpu eu]; 2 stops 60s ago [gpu]                                   | ${withoutLastService} | nothing                        | no override prevents waking; the missing service is reported
  cpu [gpu], paused; eu [gpu eu], no wake; 2 stops 60s ago [gpu]   |        | held 2 autostop by cpu (pause) | it is no help, and was not meant to be
  cpu [gpu], paused; eu B [gpu eu], no wake; 2 stops 60s ago [gpu] |        | nothing                        | that opens the gate as long as it is there
  cpu [gpu], paused; eu [gpu eu], min 1, no wake; 2 stops 60s ago [gpu] |        | nothing                        | its daemon is about to come
  cpu [gpu], paused; eu [gpu eu], warm 1, no wake; 2 stops 60s ago [gpu] |        | nothing                        | its daemon is about to come
  cpu [gpu], paused; eu [gpu eu], min 1, no wake; 2 stops 60s ago [gpu] | ${withoutLastService} | held 2 autostop by cpu (pause) | no task is launched
  cpu [gpu], paused; 2 stops 60s ago [gpu]; busy stranger [gpu]        |        | nothing                        | they open the gate
  cpu [gpu], no wake, paused; 2 stops 60s ago [gpu]                |        | nothing                        | the configuration wants it so
  cpu [gpu], retiring, paused; 2 stops 60s ago [gpu]                   |        | without-pool 2 autostop        | the end of the pause would not help
  cpu [gpu], paused; old [gpu eu], retiring; 2 stops 60s ago [gpu]     |        | held 2 autostop by cpu (pause) | only one of them can be woken again
  cpu [gpu], paused, pause-until 2026-11-20T09:00:00Z; 2 stops 60s ago [gpu] |        | nothing                        | it is woken
`)('finds $expected for $world, because $because', ({ world, change, expected }) => {
  expect(inWords(foundIn(planOf(world, change)))).toBe(expected);
});

describe('the plan of a pool that is paused or pinned', () => {
  const pools = { cpu: asleep };
  const workspaces = [
    { tags: gpu, stopsInS: -60, count: 2 },
    { tags: gpu, stopsInS: 1800 },
  ];

  it('lists the transitions that are due within the hour', () => {
    const row = { organization: 'default', tags: gpu, pool: null, kind: 'autostop' };
    expect(planOf({ pools, workspaces }).forecast).toEqual([
      { ...row, transitions: 2, at: '2026-11-20T08:59:00.000Z' },
      { ...row, transitions: 1, at: '2026-11-20T09:30:00.000Z' },
    ]);
  });

  it('reports the transitions that wait, who set the override, and its end', () => {
    const override = { kind: 'pause', until: UNTIL, by: 'somebody', why: 'no reason given' };
    expect(planOf({ pools, workspaces }).findings).toEqual([
      {
        code: 'transitions-held',
        organization: 'default',
        tags: gpu,
        pools: [{ name: 'cpu', override }],
        kind: 'autostop',
        transitions: 2,
        at: '2026-11-20T08:59:00.000Z',
      },
    ]);
  });

  it.each([
    { overrides: paused, before: ['paused'] },
    { overrides: pin(0), before: [] },
  ])('gives the reason to each pool that could wake, with $overrides', ({ overrides, before }) => {
    const others = { eu: { tags: gpuEu, overrides }, other: { overrides } };
    const plan = planOf({ pools: { cpu: { tags: gpu, overrides }, ...others }, workspaces });
    const reason: Reason = {
      code: 'not-woken-for',
      for: [{ kind: 'autostop', transitions: 2, at: '2026-11-20T08:59:00.000Z' }],
    };
    for (const name of ['cpu', 'eu']) expect(poolOf(plan, name).why.slice(before.length)).toEqual([reason]);
    expect(
      poolOf(plan, 'cpu')
        .why.slice(0, before.length)
        .map(({ code }) => code),
    ).toEqual(before);
    expect(poolOf(plan, 'other').why).not.toContainEqual(reason);
  });

  it('gives no such reason if an existing daemon opens the gate', () => {
    const awake = { cpu: { ...asleep, tasks: 'I1m' } };
    expect(poolOf(planOf({ pools: awake, workspaces }), 'cpu').why).toMatchObject([{ code: 'paused' }]);
  });
});
