/** Fargate's quota of vCPUs against what this cluster runs. Other clusters of the account use it too. */
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { type DeployedPool, partsOn } from '../../../lambda/config/rules/deployment.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { POOL_TAG, tagOf } from '../../../lambda/decision/model/service-tags.ts';
import type { Service } from '../../../lambda/decision/model/snapshot.ts';
import { type Check, ok, warn } from '../check/check.ts';
import { CLIENT, notLooked, tryRead } from './reading.ts';

/** docs/internals/aws.md §2 */
const QUOTAS = [
  { capacity: 'on-demand', code: 'L-3032A538' },
  { capacity: 'spot', code: 'L-36FBB829' },
] as const;

/** CPU units of a vCPU. */
const UNITS = 1024;

export async function checkQuotas(
  pools: readonly DeployedPool[],
  services: readonly Service[],
  until: AbortSignal,
): Promise<readonly Check[]> {
  const client = new ServiceQuotasClient(CLIENT);
  try {
    const asked = QUOTAS.map((quota) => ({ ...quota, parts: partsOn(quota.capacity, pools) })).filter(
      ({ parts }) => parts.length > 0,
    );
    return await Promise.all(
      asked.map(async ({ capacity, code, parts }) => {
        const name = `quota: ${capacity}`;
        const request = new GetServiceQuotaCommand({ ServiceCode: 'fargate', QuotaCode: code });
        const read = await tryRead({ name, permission: 'servicequotas:GetServiceQuota', until }, (options) =>
          client.send(request, options),
        );
        if ('check' in read) return read.check;
        const vcpus = read.value.Quota?.Value;
        if (vcpus === undefined) return notLooked(name, 'AWS tells no value');
        return judgeQuota(name, { code, vcpus, parts, services });
      }),
    );
  } finally {
    client.destroy();
  }
}

type Used = {
  readonly code: string;
  readonly vcpus: number;
  readonly parts: readonly DeployedPool[];
  readonly services: readonly Service[];
};

function judgeQuota(name: string, { code, vcpus, parts, services }: Used): Check {
  const cpuOf = new Map(parts.map((part) => [part.name as string, part.cpu]));
  const used = sum(services, (service) => {
    const cpu = cpuOf.get(tagOf(service, POOL_TAG) ?? '') ?? 0;
    return ((service.runningCount + service.pendingCount) * cpu) / UNITS;
  });
  const most = sum(parts, ({ cpu, max }) => (cpu * max) / UNITS);
  const next = Math.max(...parts.map(({ cpu }) => cpu / UNITS));
  const says = `this cluster's tasks use ${used} of ${vcpus} vCPUs of the account`;
  if (used + next <= vcpus) return ok(name, `${says}; at their max the pools need ${most}`);
  const wanted = Math.max(most, Math.ceil(used + next));
  return warn(
    name,
    `${says}, so Fargate refuses the next task, and jobs wait. Request more: aws service-quotas request-service-quota-increase --service-code fargate --quota-code ${code} --desired-value ${wanted}`,
  );
}
