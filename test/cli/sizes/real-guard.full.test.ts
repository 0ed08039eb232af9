/** From the real guard.sh over its log to `autoscaler sizes`, for builds with a known need. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import type { Sizes } from '../../../cli/sizes/report.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { ACCESS_KEY_OF_A_PERSON } from '../../../simulator/aws-http.ts';
import { missingForGuard } from '../../../simulator/guarded/guarded-tasks.ts';
import { serveWorld } from '../../../simulator/serve.ts';
import { GuardedWorld } from '../../simulator/task/guarded-fixture.ts';
import { runIn } from '../../support/cli-run.ts';
import { labConfig } from '../../support/lab.ts';
import { ownFolder } from '../../support/own-folder.ts';

const BUILDS = 2;
/** The size is 1 vCPU and 2,048 MiB, of which a build needs this much. */
const NEED = { peakMiB: 1_800, cpuPercent: 60 };

const folder = ownFolder();
afterEach(() => vi.unstubAllEnvs());

describe.skipIf(missingForGuard().length > 0)('the lines of a real guard', () => {
  it('lead to advice that holds what the builds need', async () => {
    const usage = { idleMiB: 80, peakMiB: () => NEED.peakMiB, cpuPercent: NEED.cpuPercent, cacheMiB: 400 };
    const guarded = await GuardedWorld.open({ usage });
    const { world } = guarded;
    const served = await serveWorld(world);
    for (const service of ['ECS', 'SECRETS_MANAGER', 'CLOUDWATCH_LOGS'])
      vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, served.awsUrl);
    vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_PERSON);
    for (let build = 1; build <= BUILDS; build++) {
      guarded.submit(2 * MINUTE_MS);
      await guarded.until(() => guarded.jobs().filter((status) => status === 'succeeded').length === build);
    }
    const file = join(folder, 'autoscaler.yaml');
    const pool = { name: 'gpu', organization: 'data', tags: { gpu: 'yes' } };
    writeFileSync(file, stringify(labConfig(served.coderdUrl, [pool])));

    const environment = { AUTOSCALER_CLUSTER: world.ecs.clusterName };
    const cli = { environment, now: () => world.timeline.now(), pollMs: 0 };
    const { code, out, err } = await runIn(cli, 'sizes', '--json', '--days', '1', '--config', file);
    await served.close();
    await guarded.close();

    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [row] = (JSON.parse(out) as Sizes).pools;
    expect(row).toMatchObject({
      ...{ pool: 'gpu', builds: BUILDS, measuredBuilds: BUILDS, tasks: 1 },
      measured: { memory: { maxMiB: NEED.peakMiB }, throttledPercent: 0 },
      advice: { verdict: 'larger', size: { cpu: 1024, memory: 3072 } },
    });
    // on a busy machine a sample may cover more than a build
    expect(row?.measured?.cpuP95Percent).toBeGreaterThan(1);
    expect(row?.measured?.cpuP95Percent).toBeLessThanOrEqual(NEED.cpuPercent);
  });
});
