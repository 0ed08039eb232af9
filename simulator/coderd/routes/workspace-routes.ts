/** Workspaces, their builds (coderd/workspacebuilds.go), and their stages (docs/internals/coder.md §13). */
import type { StageSpan } from '../../base/daemon-connection.ts';
import { rfc3339 } from '../queries/rows.ts';
import type { JobRecord } from '../tables/jobs.ts';
import { mayReadWorkspaces } from '../tables/tokens.ts';
import type { BuildRecord } from '../tables/workspace-records.ts';
import { isUuid, searchKeyOf } from './parameters.ts';
import { type Answer, badUuid, invalid, NOT_FOUND, type UserRequest } from './route.ts';
import { buildAnswer, workspaceAnswer } from './workspace-list.ts';

/** Lists and counts what the user may read. Any query is refused, as coderd refuses unknown keys. */
export function workspaces({ model, user, parameters }: UserRequest): Answer {
  parameters.uuid('after_id');
  const limit = parameters.positiveInt32('limit', 0);
  const offset = parameters.positiveInt32('offset', 0);
  const errors = parameters.invalid();
  if (errors.length > 0) return invalid(errors, 'Query parameters have invalid values.');
  const [field] = parameters.strings('q').map(searchKeyOf);
  if (field !== undefined)
    return invalid(
      [{ field, detail: `"${field}" is not a valid query param` }],
      'Invalid workspace search query.',
    );
  const readable = model.workspaces
    .inListOrder()
    .filter(({ organizationId }) => mayReadWorkspaces(user, organizationId));
  const page = readable.slice(offset, limit === 0 ? undefined : offset + limit);
  const body = {
    workspaces: page.map((workspace) => workspaceAnswer(workspace, model)),
    count: readable.length,
  };
  return { status: 200, body };
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Newest first, also for deleted workspaces. `limit` 0: all. Only newer builds than `after_id` follow. */
export function workspaceBuilds({ model, user, parameters, ids: [id = ''] }: UserRequest): Answer {
  if (!isUuid(id)) return badUuid(id);
  const builds = model.buildsOf(id.toLowerCase());
  const [first] = builds;
  if (first === undefined || !mayReadWorkspaces(user, first.job.organizationId)) return NOT_FOUND;
  const afterId = parameters.uuid('after_id');
  const limit = parameters.positiveInt32('limit', 0);
  const offset = parameters.positiveInt32('offset', 0);
  const errors = parameters.invalid();
  if (errors.length > 0) return invalid(errors, 'Query parameters have invalid values.');
  const [since] = parameters.strings('since');
  if (since !== undefined && !RFC3339.test(since))
    return { status: 400, body: { message: 'bad `since` format, must be RFC3339' } };
  const after = builds.find((build) => build.id === afterId);
  if (afterId !== undefined && after === undefined)
    return { status: 400, body: { message: `Record at "after_id" ("${afterId}") does not exist.` } };
  const isAsked = ({ createdAt, number }: BuildRecord): boolean =>
    (since === undefined || createdAt > Date.parse(since)) && number > (after?.number ?? 0);
  const found = builds.filter(isAsked).toReversed();
  const page = found.slice(offset, limit === 0 ? undefined : offset + limit);
  const body = page.map((build) => buildAnswer(build, { id, name: build.job.workspace?.name ?? '' }, model));
  return { status: 200, body };
}

/** Empty for a build that has not succeeded. The simulated agents connect at once. */
export function buildTimings({ model, user, ids: [id = ''] }: UserRequest): Answer {
  if (!isUuid(id)) return badUuid(id);
  const job = model.jobOfBuild(id.toLowerCase());
  if (job === undefined || !mayReadWorkspaces(user, job.organizationId)) return NOT_FOUND;
  const rows = model.version.does('tellsStages') ? rowsOf : earlyRowsOf;
  const body = {
    provisioner_timings: job.stages.flatMap((span) => rows(span).map((row) => timing(job, span, row))),
    agent_script_timings: [],
    agent_connection_timings: [],
  };
  return { status: 200, body };
}

/** `part`: where in the stage it begins and ends, 0 to 1. @default the whole stage */
type Row = {
  readonly source: string;
  readonly action: string;
  readonly resource: string;
  readonly part?: readonly [from: number, to: number];
};

function timing({ id }: JobRecord, { stage, startedAt, endedAt }: StageSpan, row: Row) {
  const [from, to] = row.part ?? [0, 1];
  const at = (share: number): string => rfc3339(Math.round(startedAt + share * (endedAt - startedAt)));
  const { source, action, resource } = row;
  return { job_id: id, started_at: at(from), ended_at: at(to), stage, source, action, resource };
}

/** From 2.29 on: one row for the whole stage, and the steps of an init. */
function rowsOf({ stage }: StageSpan): readonly Row[] {
  const whole: Row = { source: 'coder', action: 'terraform', resource: `coder_stage_${stage}` };
  return stage === 'init' ? [whole, ...INIT_STEPS] : [whole];
}

const INIT_STEPS: readonly Row[] = [
  { source: '', action: 'load', resource: 'backend', part: [0.02, 0.03] },
  { source: '', action: 'load', resource: 'modules', part: [0.03, 0.05] },
  { source: '', action: 'load', resource: 'provider plugins', part: [0.05, 0.98] },
];

/** Before 2.29: one row for an init and for a graph, and one for each resource. */
function earlyRowsOf({ stage }: StageSpan): readonly Row[] {
  return [{ source: 'terraform', ...EARLY_ROWS[stage] }];
}

const EARLY_ROWS: Readonly<Record<StageSpan['stage'], Omit<Row, 'source'>>> = {
  init: { action: 'initializing terraform', resource: 'state file' },
  plan: { action: 'state refresh', resource: 'data.coder_workspace.me' },
  apply: { action: 'create', resource: 'docker_container.workspace[0]' },
  graph: { action: 'building terraform dependency graph', resource: 'state file' },
};
