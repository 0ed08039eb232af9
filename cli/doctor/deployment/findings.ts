/** What a look from this machine finds, as far as no other check tells it. */
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import type { Finding, FindingCode } from '../../../lambda/decision/model/plan.ts';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import { type Check, fail, warn } from '../check/check.ts';

/** `own check`: another check tells it. `fail`: no task of the pool starts. */
const TOLD_AS: Readonly<Record<FindingCode, 'own check' | 'fail' | 'warn'>> = {
  'version-unknown': 'own check',
  'jobs-list-slow': 'warn',
  'token-expires': 'own check',
  'license-in-grace': 'own check',
  'license-missing': 'own check',
  'server-too-old': 'own check',
  'clocks-differ': 'warn',
  'service-without-pool': 'own check',
  'organization-unknown': 'own check',
  'daemons-empty-while-leased': 'warn',
  'jobs-empty-while-busy': 'warn',
  'worker-unknown': 'warn',
  'heartbeats-old': 'warn',
  'heartbeats-late': 'warn',
  'pools-alike': 'warn',
  'workspaces-empty': 'warn',
  'transitions-without-pool': 'warn',
  'transitions-late': 'warn',
  'transitions-refused': 'warn',
  'transitions-held': 'warn',
  'jobs-waiting': 'warn',
  'jobs-about-to-fail': 'warn',
  'jobs-never-started': 'warn',
  'override-malformed': 'warn',
  'image-newer-than-server': 'own check',
  'daemons-share-task': 'warn',
  'starts-failing': 'fail',
  'starts-throttled': 'own check',
  'placement-failing': 'fail',
  'build-died-with-task': 'warn',
  'build-of-task-unknown': 'warn',
  'daemons-without-task': 'warn',
  'tasks-fewer-than-counted': 'warn',
  'service-missing': 'own check',
  'service-ambiguous': 'own check',
  'count-changed-by-others': 'warn',
  'count-contested': 'warn',
  'daemon-tags-differ': 'own check',
  'possible-intruder': 'warn',
  'psk-changed': 'warn',
  'tasks-with-old-secret': 'warn',
  'tasks-unguarded': 'warn',
  'tasks-lease-late': 'warn',
  'tasks-vacant': 'warn',
  'tasks-without-daemon': 'warn',
  'tasks-draining-without-daemon': 'warn',
  'tasks-draining-for-long': 'warn',
  'tasks-busy-for-long': 'warn',
};

/** `finding "starts-failing"`: docs/troubleshooting.md explains the code. Lists that cannot be read have checks of their own. */
export function checkFindings(findings: readonly Finding[]): readonly Check[] {
  return findings.flatMap((finding) => {
    const name = `finding "${finding.code}"`;
    const words = sentenceOf(finding);
    switch (ownValue(TOLD_AS, finding.code)) {
      case 'fail':
        return [fail(name, words)];
      case 'warn':
        return [warn(name, words)];
      default:
        return [];
    }
  });
}
