/** What everything that makes jobs is given. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Random } from '../../../simulator/base/random.ts';
import type { JobKind, TraceJob, Transition } from '../trace.ts';
import type { Template } from './scenario.ts';

type Queue = Pick<Template, 'organization' | 'tags'>;

/** The name of a workspace, and what is done with it. */
export type Build = { readonly workspace: string; readonly transition: Transition };

export type Scene = {
  readonly random: Random;
  /** Adds a job, at a whole second. In any order of time. `build`: what it does, if it is of a person's workspace. */
  readonly submit: (kind: JobKind, queue: Queue, at: number, seconds: number, build?: Build) => void;
  /** A name that no other workspace of the trace has. */
  readonly nameWorkspace: () => string;
};

/** A scene that writes its jobs into a list. */
export function sceneInto(jobs: TraceJob[], random: Random): Scene {
  let workspaces = 0;
  return {
    random,
    submit: (kind, { organization, tags }, at, seconds, build) => {
      jobs.push({
        ...{ at: (Math.round(at / 1000) * 1000) as EpochMs, organization, tags, seconds, kind },
        ...build,
      });
    },
    nameWorkspace: () => `w${++workspaces}`,
  };
}
