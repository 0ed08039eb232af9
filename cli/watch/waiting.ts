/** Who waits, and until when: the jobs of each tag set with their promises, as `status` words them. */
import { isoTime, plusMs } from '../../lambda/decision/model/brands.ts';
import type { Plan } from '../../lambda/decision/model/plan.ts';
import type { PendingJob } from '../../lambda/decision/model/promise.ts';
import type { Job, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { SECOND_MS } from '../../lambda/decision/model/units.ts';
import { tagText, timeText } from '../../lambda/explain/format.ts';
import { startText } from '../../lambda/explain/promise-text.ts';
import { placeText, type Status } from '../status/report.ts';

export type WaitingGroup = {
  readonly tags: string;
  readonly jobs: number;
  /** When the oldest of them was created. */
  readonly since: string;
  /** Which daemons will run them. */
  readonly by: string;
  /** In the order in which coderd hands them out. */
  readonly rows: readonly WaitingRow[];
};

type WaitingRow = {
  readonly id: string;
  /** `alice/dev`, or what else is known of the job. */
  readonly who: string;
  /** The page of its build in Coder. Null: not of a workspace whose owner is known. */
  readonly link: string | null;
  readonly template: string | null;
  readonly since: string;
  /** `starts in about 40 s, in "gpu"`. */
  readonly start: string;
};

type Waited = {
  readonly snapshot: Snapshot;
  readonly plan: Plan;
  readonly status: Pick<Status, 'waiting' | 'isLooking'>;
  readonly coderUrl: string;
  /** Names a tag set, with its organization if there are several. */
  readonly named: (tags: string, organization: string) => string;
};

/** The most rows of all tag sets together: a frame is sent at each look. */
const MOST_ROWS = 300;

export function waitingGroups({ snapshot, plan, status, coderUrl, named }: Waited): readonly WaitingGroup[] {
  const { groups, pendingJobs } = status.waiting;
  const jobs = new Map(
    snapshot.coder.organizations.flatMap((each) => each.jobs.items.map((job) => [job.id, job] as const)),
  );
  const buildNumbers = new Map(
    snapshot.coder.organizations.flatMap(({ workspaces }) =>
      (workspaces?.items ?? []).map(
        ({ latest_build: { job, build_number } }) => [job.id, build_number] as const,
      ),
    ),
  );
  const rows = Map.groupBy(pendingJobs.slice(0, MOST_ROWS), ({ organization, tags }) =>
    keyOf(organization, tagText(tags)),
  );
  const group = (organization: string, tags: string, fields: Omit<WaitingGroup, 'tags' | 'rows'>) => ({
    ...{ tags: named(tags, organization), ...fields },
    rows: (rows.get(keyOf(organization, tags)) ?? []).map((job) =>
      rowOf(job, {
        job: jobs.get(job.id),
        build: buildNumbers.get(job.id) ?? undefined,
        ...{ coderUrl, takenAt: plan.takenAt, isLooking: status.isLooking },
      }),
    ),
  });
  return [
    ...groups.map(({ organization, tags, jobs, oldestSeconds, places }) => {
      const since = isoTime(plusMs(snapshot.takenAt, -oldestSeconds * SECOND_MS));
      return group(organization, tags, { jobs, since, by: [...new Set(places.map(placeText))].join(', ') });
    }),
    ...plan.unserved.map(({ organization, tags, jobs, oldest }) =>
      group(organization, tagText(tags), { jobs, since: oldest, by: 'unschedulable, see above' }),
    ),
  ];
}

const keyOf = (organization: string, tags: string): string => `${organization} ${tags}`;

type Known = Pick<Waited, 'coderUrl'> & {
  readonly job: Job | undefined;
  /** Its number in its workspace; undefined: the list of workspaces is older than the job. */
  readonly build: number | undefined;
  readonly takenAt: string;
  readonly isLooking: boolean;
};

function rowOf(pending: PendingJob, { job, build, coderUrl, takenAt, isLooking }: Known): WaitingRow {
  const { id, workspace, type, createdAt, pool, startsAt, failsAt } = pending;
  const { workspace_name: name, template_name: template } = job?.metadata ?? {};
  const start = isLooking ? startText(pending, takenAt) : 'start unknown: the function does not look';
  return {
    ...{ id, since: createdAt, template: template || null },
    who: workspace ?? (name || `${TYPES.get(type) ?? type} ${id.slice(0, 8)}`),
    link: workspace === null ? null : buildLink(coderUrl, workspace, build),
    start: [
      start,
      ...(startsAt !== null && pool !== null ? [`in "${pool}"`] : []),
      ...(startsAt === null && failsAt !== null
        ? [`coderd fails it at ${timeText(failsAt).slice(-12)}`]
        : []),
    ].join(', '),
  };
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['workspace_build', 'build'],
  ['template_version_import', 'template import'],
  ['template_version_dry_run', 'dry run of a template'],
]);

/**
 * Coder has the page of a build at `/@owner/name/builds/3` (site/src/router.tsx), and that of a workspace, which shows
 * its newest build, without the number.
 */
function buildLink(coderUrl: string, workspace: string, build: number | undefined): string {
  const [owner = '', name = ''] = workspace.split('/');
  const page = `${coderUrl.replace(/\/+$/, '')}/@${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
  return build === undefined ? page : `${page}/builds/${build}`;
}
