/** Where the simulated coderd answers otherwise than a real one did, and may. Everything else is a defect of one of them. */
import type { Difference } from './compare.ts';

export type KnownDifference = {
  /** In the answer, with `[]` for the place in a list; a whole word matches a path that ends with it. */
  readonly paths: readonly string[];
  /** @default any */
  readonly step?: string;
  readonly reason: string;
};

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    paths: [
      ...['matched_provisioners', 'has_ai_task', 'has_external_agent', 'task_id', 'has_ai_seat'],
      ...['webpush_public_key', 'organization_display_name', 'use_terraform_workspace_cache', 'name'],
    ],
    reason: 'Only the real one tells it, and nothing here reads it.',
  },
  {
    paths: [
      ...['allow_list', 'scopes', 'cors_behavior', 'deleted', 'disable_module_cache'],
      ...['time_til_autostop_notify_ms', 'has_external_agent'],
    ],
    reason: 'The simulated one tells it at all releases, the real one at later ones; nothing here reads it.',
  },
  {
    paths: ['resources[]'],
    reason:
      'What a build makes is its template’s affair; the simulated one fills the answers as a real template does.',
  },
  {
    paths: ['error'],
    reason: 'The words of a failed job are those of whoever ran it.',
  },
  {
    paths: ['queue_position', 'queue_size'],
    step: 'workspaces whose builds wait',
    reason:
      'Within a build they count the jobs that fit each daemon; the simulated one tells 0, and nothing here reads them.',
  },
  {
    paths: ['P50', 'P95'],
    reason: 'The server that was asked had not yet worked them out; nothing here reads them.',
  },
  {
    paths: ['body.order', 'found.items.order'],
    reason: 'Members come in no order: the query has none.',
  },
  {
    paths: ['global_roles[]', 'roles[]'],
    reason: 'The simulated users have rights, not roles, but for the owner.',
  },
  {
    paths: ['last_seen_at'],
    reason: 'The simulated one does not know when users were there; nothing here reads it.',
  },
  {
    paths: ['body[].created_at', 'body[].updated_at', 'description', 'display_name'],
    step: 'the organizations',
    reason: 'The default organization is as old as the database, and named by whoever made it.',
  },
  {
    paths: ['external_url'],
    step: 'the build info',
    reason: 'The real one was built from source, without its commit.',
  },
  { paths: ['email'], reason: 'The first user’s is made by whoever installs coderd.' },
  { paths: ['token_name'], step: "the reader's token", reason: 'Whoever makes a token names it.' },
  {
    paths: [
      ...['status', 'body.message', 'body.errors', 'body.features', 'body.has_license', 'body.refreshed_at'],
      ...['body.require_telemetry', 'body.trial', 'body.warnings'],
    ],
    step: 'the licence',
    reason: 'The open-source server that was asked has no licence route; the simulated one is licensed.',
  },
  {
    paths: ['validations[].detail'],
    step: 'provisionerjobs?tags=nope',
    reason: 'Go and JavaScript find other words for bad JSON.',
  },
  {
    paths: ['validations[].detail'],
    step: 'provisionerdaemons?tags=nope',
    reason: 'Go and JavaScript find other words for bad JSON.',
  },
  {
    paths: ['validations[].detail'],
    step: 'provisionerjobs?tags={"a":1}',
    reason: 'Go and JavaScript find other words for bad JSON.',
  },
  {
    paths: ['found.errors.{early}'],
    step: 'a daemon when builds are to be stopped',
    reason:
      'Before the gate, the executor fails to start what is still being stopped, and logs it; the simulated one keeps no log.',
  },
];

/** The entry of the list that a difference is, if it is one. */
export function knownDifference({ step, path }: Difference): KnownDifference | undefined {
  const plain = path.replaceAll(/\[[^\]]*\]/g, '[]');
  return KNOWN_DIFFERENCES.find(
    (known) =>
      (known.step === undefined || known.step === step) &&
      known.paths.some((end) => plain === end || plain.endsWith(`.${end}`)),
  );
}
