/** Words the finding about ECS's wait after failed starts: how old it is, and what ends it. */
import type { BeforeDeployment, FindingOf } from '../decision/model/plan.ts';
import { ageText } from './format.ts';

const BEFORE: Readonly<Record<BeforeDeployment, string>> = {
  'lists-are-whole': 'the lists of services and tasks can be read whole',
  'deployment-is-completed': 'its only deployment is completed',
  'tasks-have-stopped': 'its tasks have stopped',
};

export function throttledText(finding: FindingOf<'starts-throttled'>): string {
  const { pool, waitedMs, cluster, service, before } = finding;
  const command = `aws ecs update-service --cluster ${cluster} --service ${service} --force-new-deployment`;
  return [
    `pool "${pool}": after failed starts ECS waits before its next try, for ${ageText(waitedMs / 1000)} now and 27 min at most`,
    before.length === 0
      ? `Once the cause is mended, end this wait: \`${command}\``
      : `Do not end this wait with a deployment before ${before.map((each) => BEFORE[each]).join(' and ')}`,
  ].join('. ');
}
