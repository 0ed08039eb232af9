/**
 * A simulated week of people who build workspaces: tasks start when a job waits, and stop when they
 * have been idle for some time. It has what disturbs the estimate: dry runs that no list shows,
 * builds that fail, new template versions, and workspaces that are deleted.
 */
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { Random } from '../../simulator/base/random.ts';
import { Timeline } from '../../simulator/base/timeline.ts';
import { CoderdModel } from '../../simulator/coderd/model.ts';
import { type ColdWorldOptions, ORGANIZATION } from './options.ts';
import { People } from './people.ts';
import { POOL, Tasks } from './tasks.ts';

export type ColdWorld = { readonly model: CoderdModel; readonly from: EpochMs; readonly to: EpochMs };

const START = Date.parse('2026-03-02T00:00:00Z') as EpochMs;
const WEEK_MS = 7 * 86_400_000;
const SCALE_EVERY_MS = 5_000;

/** Lets a week pass. */
export function coldWeek(options: ColdWorldOptions): ColdWorld {
  const timeline = new Timeline(START);
  const random = new Random(options.seed);
  const model = new CoderdModel({ timeline, random, organizations: [ORGANIZATION] });
  const key = model.addKey({ organization: ORGANIZATION, name: POOL, tags: {} });
  const tasks = new Tasks({ model, random, key, ...options });
  const people = new People(model, random, options);
  const to = plusMs(START, WEEK_MS);
  timeline.every(SCALE_EVERY_MS, () => tasks.scale());
  for (let at = people.next(START); at < to; at = people.next(at)) {
    timeline.advanceTo(at);
    people.build();
  }
  timeline.advanceTo(to);
  return { model, from: START, to };
}
