/**
 * Builds the log events of builds that died with their tasks: one for each, with flat fields. A look
 * reports a death for about an hour, as long as ECS lists the task. This memory keeps a process from
 * logging it again. A new process logs it again, so readers count each job once.
 */
import type { DeadBuild, Plan } from '../decision/model/plan.ts';

export type OrphanEvent = DeadBuild & { readonly pool: string; readonly organization: string };

/** More deaths than an hour has. */
const REMEMBERED = 2_000;

export class OrphanEvents {
  /** How many fields of a job's event were known, by job id. */
  readonly #logged = new Map<string, number>();

  /** The events that this process has not logged yet, or of which more is known now. */
  newOf({ findings }: Plan): readonly OrphanEvent[] {
    return orphansOf(findings).filter((event) => this.#isNews(event));
  }

  #isNews(event: OrphanEvent): boolean {
    const known = Object.values(event).filter((value) => value !== null).length;
    if (known <= (this.#logged.get(event.job) ?? 0)) return false;
    this.#logged.set(event.job, known);
    const [oldest] = this.#logged.keys();
    if (this.#logged.size > REMEMBERED && oldest !== undefined) this.#logged.delete(oldest);
    return true;
  }
}

/** The builds of all findings `build-died-with-task`. */
export function orphansOf(findings: Plan['findings']): readonly OrphanEvent[] {
  return findings.flatMap((finding) => {
    if (finding.code !== 'build-died-with-task') return [];
    const { pool, organization, builds } = finding;
    return builds.map((build) => ({ pool, organization, ...build }));
  });
}
