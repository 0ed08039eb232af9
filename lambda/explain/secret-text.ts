/** Words the reason and the findings about changed secrets as sentences. */
import type { ChangedSecret, FindingOf, OldSecretReason } from '../decision/model/plan.ts';
import { type SecretKind, SPREADS_WITHIN_MS } from '../decision/model/secrets.ts';
import { ageText, dateText, few, some, timeText } from './format.ts';

/** `3 of 8 tasks still use the key of 12 November 2026: draining 1 of them`. */
export function oldSecretText(reason: OldSecretReason): string {
  const { tasks, of, asked, draining, held } = reason;
  return `${tasks} of ${some(of, 'task')} still ${tasks === 1 ? 'uses' : 'use'} ${oldValue(reason)}: ${turnText({ waiting: tasks - draining - asked, asked, draining, held })}`;
}

type Turn = Pick<OldSecretReason, 'asked' | 'draining' | 'held'> & { readonly waiting: number };

function turnText({ waiting, asked, draining, held }: Turn): string {
  if (held === 'until-connected') return 'replaced once a daemon connects with the new one (see findings)';
  const parts = [
    ...(asked > 0 ? [`draining ${asked}`] : []),
    ...(draining > 0 ? [`${draining} ${draining === 1 ? 'drains' : 'drain'} already`] : []),
    ...(waiting > 0
      ? [`${waiting} ${waiting === 1 ? 'waits' : 'wait'} for ${waiting === 1 ? 'its' : 'their'} turn`]
      : []),
  ];
  return parts.join(', ');
}

const NOUNS: Readonly<Record<SecretKind, string>> = {
  key: 'key',
  managed: 'key',
  psk: 'pre-shared key',
  token: 'token',
  variable: 'value',
};

/** `the key of 12 November 2026`, or `a key from before 20 November 2026`. */
function oldValue({ kind, secret, changedAt, previousAt }: ChangedSecret): string {
  const noun = kind === 'variable' ? `value of secret ${secret}` : NOUNS[kind];
  const isSameDay = previousAt !== null && dateText(previousAt) === dateText(changedAt);
  const [day, before] = isSameDay ? [timeText, timeText] : [dateText, timeText];
  return previousAt === null
    ? `a ${noun} from before ${before(changedAt)}`
    : `the ${noun} of ${day(previousAt)}`;
}

export function secretsUnreadText(
  finding: FindingOf<'secrets-failed' | 'secrets-forbidden' | 'secrets-stale'>,
): string {
  const cause = finding.error === undefined ? '' : `: ${finding.error}`;
  switch (finding.code) {
    case 'secrets-forbidden':
      return `no permission to read the metadata of the pools' secrets. Deploy the stack again, or grant the function's role secretsmanager:ListSecrets on "*" and secretsmanager:ListSecretVersionIds on the pools' secrets. A change that it cannot read replaces no task${finding.error === undefined ? '' : `. AWS says: ${finding.error}`}`;
    case 'secrets-failed':
      return `could not list the pools' secrets${cause}. A change that it cannot read replaces no task until the list is back`;
    case 'secrets-stale':
      return `could not list the pools' secrets since ${finding.takenAt === undefined ? 'an earlier look' : timeText(finding.takenAt)}${cause}. A secret that changed since then replaces no task until the list is back`;
    default:
      return finding satisfies never;
  }
}

export function pskChangedText({ pool, secret, changedAt }: FindingOf<'psk-changed'>): string {
  return `pool "${pool}": the pre-shared key in secret ${secret} changed, and no newer task has connected. If coderd has another key, set it there too (CODER_PROVISIONER_DAEMON_PSK) and restart coderd, which reads it only when it starts. The key changed at ${timeText(changedAt)}; a task is newer if ECS created it more than ${ageText(SPREADS_WITHIN_MS / 1000)} later. The pool replaces its older tasks once a newer one has connected`;
}

export function lastingSecretText(finding: FindingOf<'tasks-with-old-secret'>): string {
  const { pool, tasks, of, changedAt } = finding;
  const ids = tasks.map((arn) => arn.slice(arn.lastIndexOf('/') + 1));
  return `pool "${pool}": ${tasks.length} of ${some(of, 'task')} still ${tasks.length === 1 ? 'uses' : 'use'} ${oldValue(finding)} (${few(ids)}). Wait for their builds before you delete the old ${NOUNS[finding.kind]}. The secret changed at ${timeText(changedAt)}. If no build runs there, look for other findings about this pool: a pause, a doubt, failing starts or a pool without a guard keep old tasks`;
}
