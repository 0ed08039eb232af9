/** The accepted differences between the simulated coderd and real ones. Any other one is a defect. */
import type { Difference } from './compare.ts';

export type KnownDifference = {
  /** Paths in the answer, with `[]` for an index, or their ends from a full word on. */
  readonly paths: readonly string[];
  /** @default any */
  readonly steps?: readonly string[];
  readonly reason: string;
};

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    paths: [
      ...['matched_provisioners', 'has_ai_task', 'has_external_agent', 'task_id', 'has_ai_seat'],
      ...['webpush_public_key', 'organization_display_name', 'use_terraform_workspace_cache', 'name'],
    ],
    reason: 'Only a real coderd sends it, and the autoscaler does not read it.',
  },
  {
    paths: [
      ...['allow_list', 'scopes', 'cors_behavior', 'deleted', 'disable_module_cache'],
      ...['time_til_autostop_notify_ms', 'has_external_agent'],
    ],
    reason:
      'The simulated coderd sends it for all releases, a real one from later releases on. The autoscaler does not read it.',
  },
  {
    paths: ['found.items[].latest_build.build_number'],
    steps: ['the product reads workspaces'],
    reason:
      'The recordings are older than the reading of it. Their own lists of workspaces have it, as the simulated ones.',
  },
  {
    paths: ['resources[]'],
    reason:
      'A build creates what its template says. The simulated coderd sends as much as for a real template.',
  },
  {
    paths: ['error'],
    reason: 'The error text of a failed job comes from the daemon that ran it.',
  },
  {
    paths: ['queue_position', 'queue_size'],
    steps: ['workspaces whose builds wait'],
    reason:
      'In a build they count the jobs that fit each daemon. The simulated coderd sends 0, and the autoscaler does not read them.',
  },
  {
    paths: ['P50', 'P95'],
    reason: 'The recorded server had not computed them yet. The autoscaler does not read them.',
  },
  {
    paths: ['body.order', 'found.items.order'],
    reason: 'The query for members has no order.',
  },
  {
    paths: ['global_roles[]', 'roles[]'],
    reason: 'Simulated users have rights instead of roles, except for the owner.',
  },
  {
    paths: ['last_seen_at'],
    reason: 'The simulated coderd does not track when users were seen. The autoscaler does not read it.',
  },
  {
    paths: ['body[].created_at', 'body[].updated_at', 'description', 'display_name'],
    steps: ['the organizations'],
    reason: 'The default organization has the age of the database and a name that a person chose.',
  },
  {
    paths: ['external_url'],
    steps: ['the build info'],
    reason: 'The recorded coderd was built from source, without its commit.',
  },
  { paths: ['email'], reason: 'The email of the first user is chosen at the installation of coderd.' },
  {
    paths: ['token_name'],
    steps: ["the reader's token"],
    reason: 'The name of a token is chosen by its creator.',
  },
  {
    paths: ['validations[].detail'],
    steps: ['provisionerjobs?tags=nope', 'provisionerdaemons?tags=nope', 'provisionerjobs?tags={"a":1}'],
    reason: 'Go and JavaScript word errors about invalid JSON differently.',
  },
  {
    paths: ['template_version_preset_id', 'job.worker_id', 'deprecated'],
    steps: ['the product reads workspaces', 'the product reads templates'],
    reason: 'The product did not read it yet when it was recorded. The answers of the servers have it.',
  },
  {
    paths: ['found.errors.{early}'],
    steps: ['a daemon when builds are to be stopped'],
    reason:
      'Before the gate existed, the executor tried to start a workspace that was still stopping, and logged the error. The simulated coderd keeps no log.',
  },
];

/** The known difference that matches a difference; undefined if none does. */
export function knownDifference({ step, path }: Difference): KnownDifference | undefined {
  const plain = path.replaceAll(/\[[^\]]*\]/g, '[]');
  return KNOWN_DIFFERENCES.find(
    (known) =>
      (known.steps?.includes(step) ?? true) &&
      known.paths.some((end) => plain === end || plain.endsWith(`.${end}`)),
  );
}
