/** The context of the generator: its random numbers, and the functions that add jobs and name workspaces. */
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import type { Random } from '../../../world/base/random.ts';
import type { JobKind, TraceJob, Transition } from '../trace.ts';
import type { Template } from './scenario.ts';

type Queue = Pick<Template, 'organization' | 'tags'>;

export type Build = { readonly workspace: string; readonly transition: Transition };

export type GeneratorContext = {
  readonly random: Random;
  /** Adds a job, in any order, rounded to a second. `build`: what it does to a person's workspace. */
  readonly submit: (kind: JobKind, queue: Queue, at: number, seconds: number, build?: Build) => void;
  /** Returns a name that no other workspace of the trace has. */
  readonly nameWorkspace: () => string;
};

export function contextInto(jobs: TraceJob[], random: Random): GeneratorContext {
  let workspaces = 0;
  return {
    random,
    submit: (kind, { organization, tags }, at, seconds, build) => {
      jobs.push({
        at: (Math.round(at / 1000) * 1000) as EpochMs,
        organization,
        tags,
        seconds,
        kind,
        ...build,
      });
    },
    nameWorkspace: () => `w${++workspaces}`,
  };
}

/** A time in which a person works without a break. */
export type WorkInterval = { readonly from: EpochMs; readonly to: EpochMs };
