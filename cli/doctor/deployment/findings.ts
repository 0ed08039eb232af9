/** What a look from this machine finds, as far as no other check tells it. */
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import { type Check, fail, warn } from '../check/check.ts';

/** Each has a check of its own, as lists that cannot be read have. */
const CHECKED_ELSEWHERE: ReadonlySet<string> = new Set<Finding['code']>([
  'daemon-tags-differ',
  'image-newer-than-server',
  'license-in-grace',
  'license-missing',
  'organization-unknown',
  'server-too-old',
  'service-ambiguous',
  'service-missing',
  'service-without-pool',
  'starts-throttled',
  'token-expires',
  'version-unknown',
]);
const ABOUT_A_LIST = /-(?:failed|forbidden|stale|truncated)$/;

/** No task of the pool starts. */
const FAILURES: ReadonlySet<string> = new Set<Finding['code']>(['starts-failing', 'placement-failing']);

/** `finding "starts-failing"`: docs/troubleshooting.md explains the code. */
export function checkFindings(findings: readonly Finding[]): readonly Check[] {
  return findings.filter(isNews).map((finding) => {
    const name = `finding "${finding.code}"`;
    return FAILURES.has(finding.code) ? fail(name, sentenceOf(finding)) : warn(name, sentenceOf(finding));
  });
}

function isNews({ code }: Finding): boolean {
  return !CHECKED_ELSEWHERE.has(code) && !ABOUT_A_LIST.test(code);
}
