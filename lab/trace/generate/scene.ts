/** What everything that makes jobs is given. */
import type { EpochMs } from '../../../lambda/core/brands.ts';
import type { Random } from '../../random.ts';
import type { JobKind, TraceJob } from '../trace.ts';
import type { Template } from './scenario.ts';

type Queue = Pick<Template, 'organization' | 'tags'>;

export type Scene = {
  readonly random: Random;
  /** Adds a job, at a whole second. In any order of time. */
  readonly submit: (kind: JobKind, queue: Queue, at: number, seconds: number) => void;
};

/** A scene that writes its jobs into a list. */
export function sceneInto(jobs: TraceJob[], random: Random): Scene {
  return {
    random,
    submit: (kind, { organization, tags }, at, seconds) => {
      jobs.push({ at: (Math.round(at / 1000) * 1000) as EpochMs, organization, tags, seconds, kind });
    },
  };
}
