/**
 * `GET /api/v2/workspacebuilds/{workspacebuild}/timings`: the stages of a build
 * (coderd/workspacebuilds.go, buildTimings; docs/internals/coder.md §13).
 */
import type { StageSpan } from '../../base/daemon-connection.ts';
import { rfc3339 } from '../queries/rfc3339.ts';
import { isUuid } from '../rules/uuids.ts';
import type { JobRecord } from '../tables/jobs.ts';
import { mayReadWorkspaces } from '../tables/tokens.ts';
import { type Answer, badUuid, NOT_FOUND } from './answers.ts';
import type { UserRequest } from './route.ts';

/** Empty for a build that has not succeeded. The simulated agents connect at once. */
export function buildTimings({ model, user, rest: [id = ''] }: UserRequest): Answer {
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
