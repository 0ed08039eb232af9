/** The estimate of `autoscaler cold-cache` against the truth of simulated weeks. */
import { describe, expect, it } from 'vitest';
import { type Comparison, compareWith } from '../../../verify/cold-cache/comparison.ts';
import { coldWeek } from '../../../verify/cold-cache/world.ts';
import { COLD_WORLDS } from '../../../verify/cold-cache/worlds.ts';
import { IS_FULL } from '../../support/runs.ts';

/** Of each world. */
const WEEKS = IS_FULL ? 10 : 2;

const week = (name: string, seed: number): Promise<Comparison> => {
  const options = COLD_WORLDS[name];
  if (options === undefined) throw new Error(`making a world: there is none with the name "${name}"`);
  return compareWith(coldWeek({ seed, ...options }));
};

const known = new Map<string, Promise<readonly Comparison[]>>();

/** The weeks of a world, which several tests use. */
function weeks(name: string): Promise<readonly Comparison[]> {
  const found =
    known.get(name) ?? Promise.all(Array.from({ length: WEEKS }, (_, index) => week(name, index + 1)));
  known.set(name, found);
  return found;
}

const isContained = ({ truth, estimate: { low, high } }: Comparison['figures'][number]): boolean =>
  low <= truth && truth <= high;

describe('the cost of a cold cache', () => {
  it.each(['two templates', 'one template', 'many failures'])(
    'is within a tenth of the truth in nine of ten figures: %s',
    async (name) => {
      const figures = (await weeks(name)).flatMap((comparison) => comparison.figures);
      const near = figures.filter(({ truth, estimate }) => Math.abs(estimate.value / truth - 1) <= 0.1);
      expect(figures.length).toBeGreaterThanOrEqual(2 * WEEKS);
      expect(near.length / figures.length).toBeGreaterThanOrEqual(0.9);
    },
  );

  it('is in its interval about as often as the interval claims', async () => {
    const names = ['two templates', 'tasks that wait for builds, dry runs', 'few builds', 'no penalty'];
    const all = await Promise.all(names.map(weeks));
    const figures = all.flat().flatMap((comparison) => comparison.figures);
    expect(figures.filter(isContained).length / figures.length).toBeGreaterThanOrEqual(0.88);
  });

  it('raises no alarm about caches that cost nothing', async () => {
    const { report } = await week('no penalty', 1);
    expect(report.month?.seconds.low).toBeLessThanOrEqual(0);
    expect(report.templates.map(({ verdict }) => verdict)).toEqual(['none', 'none']);
  });

  it('has no figures for a template with too few builds', async () => {
    const options = { ...COLD_WORLDS['two templates'], templates: {}, buildsPerDay: 2 };
    const { docker } = COLD_WORLDS['two templates']?.templates ?? {};
    if (docker === undefined) throw new Error('making a world: the template is missing');
    const { report, figures, requests } = await compareWith(
      coldWeek({ ...options, seed: 1, templates: { docker } }),
    );
    expect(report.templates.map(({ verdict, month }) => [verdict, month])).toEqual([['too-few', undefined]]);
    expect([report.month, figures, report.timed]).toEqual([undefined, [], 0]);
    // no timings were read: only lists
    expect(requests).toBeLessThan(60);
  });

  it('reads at most as many timings of each group as asked', async () => {
    const options = COLD_WORLDS['two templates'];
    if (options === undefined) throw new Error('making a world: there is none');
    const { report } = await compareWith(coldWeek({ seed: 1, ...options }), 10);
    const sizes = report.templates.flatMap(({ groups }) => groups.map(({ inits }) => inits.length));
    expect(Math.max(...sizes)).toBe(10);
    expect(report.timed).toBeLessThanOrEqual(2 * 4 * 10);
  });
});
