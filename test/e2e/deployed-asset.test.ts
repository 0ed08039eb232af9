import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import * as z from 'zod';
import { functionEnvironment } from '../../lab/demo/function/environment.ts';
import { RunningFunction } from '../../lab/demo/function/running-function.ts';
import { type SynthesizedStack, synthesizeStack } from '../../lab/world/synthesized-stack.ts';
import {
  LOG_GROUP_TAG,
  ORGANIZATION_TAG,
  POOL_TAG,
  SCALE_IN_TAG,
  STACK_TAG,
} from '../../lambda/decision/model/service-tags.ts';
import { type Lab, type LabPool, labConfig, startLab } from '../support/lab.ts';
import { ownFolder } from '../support/own-folder.ts';

const configured: readonly LabPool[] = [
  { name: 'cpu', organization: 'default', tags: {}, idleTimeout: '60s' },
  { name: 'data', organization: 'data', tags: { team: 'data' }, credential: 'managed', idleTimeout: '60s' },
];
const outDir = ownFolder();

const serviceSchema = z.object({
  DesiredCount: z.number().optional(),
  DeploymentConfiguration: z.object({ MinimumHealthyPercent: z.number(), MaximumPercent: z.number() }),
  Tags: z.array(z.object({ Key: z.string(), Value: z.unknown() })),
});

/** The services of the template. Organization and tags of each pool come from the configuration. */
function servicesOf({ resources }: SynthesizedStack): LabPool[] {
  return Object.values(resources)
    .filter(({ Type }) => Type === 'AWS::ECS::Service')
    .map(({ Properties }) => {
      const { DesiredCount, DeploymentConfiguration, Tags } = serviceSchema.parse(Properties);
      const tags = Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]));
      expect(Object.keys(tags).sort()).toEqual([
        LOG_GROUP_TAG,
        ORGANIZATION_TAG,
        POOL_TAG,
        SCALE_IN_TAG,
        STACK_TAG,
      ]);
      const pool = configured.find(({ name }) => name === tags[POOL_TAG]);
      if (pool === undefined) throw new Error(`finding the pool of a service tagged ${JSON.stringify(tags)}`);
      return {
        ...pool,
        ...(DesiredCount !== undefined && { desiredCount: DesiredCount }),
        minimumHealthyPercent: DeploymentConfiguration.MinimumHealthyPercent,
        maximumPercent: DeploymentConfiguration.MaximumPercent,
      };
    });
}

describe('the deployed function', () => {
  let lab: Lab;
  let running: RunningFunction;

  beforeAll(async () => {
    // the world's address is in the configuration, and the world's services are in the template
    const template = synthesizeStack(
      stringify(labConfig('http://127.0.0.1:1', configured)),
      join(outDir, 'first'),
    );
    lab = await startLab({ pools: servicesOf(template) });
    const stack = synthesizeStack(stringify(labConfig(lab.coderdUrl, configured)), join(outDir, 'second'));
    // little time is left, so that there is one look
    const hurried = { ...stack, function: { ...stack.function, timeoutMs: 6_000 } };
    const environment = functionEnvironment(lab.world, lab);
    running = new RunningFunction(hurried, { environment, onLine: () => {} });
  });
  afterAll(async () => {
    await running.close();
    await lab.close();
  });

  async function minutes(count: number): Promise<void> {
    for (let minute = 0; minute < count; minute++) {
      lab.pass(60);
      await running.invoke();
    }
  }

  it('drains the tasks that CloudFormation starts with the services', async () => {
    expect(lab.world.figures().tasks.launched).toBe(0);
    lab.pass(1);
    expect(configured.map(({ name }) => lab.world.service(name).state.desiredCount)).toEqual([1, 1]);
    await minutes(12);
    expect(lab.world.figures().tasks.running).toBe(0);
  });

  it('starts daemons for jobs of both organizations and ends without tasks', async () => {
    const { coderd } = lab.world;
    for (let index = 0; index < 5; index++)
      coderd.submitJob({ organization: 'default', tags: {}, durationMs: 120_000 });
    coderd.submitJob({ organization: 'data', tags: { team: 'data' }, durationMs: 120_000 });
    await minutes(6);
    expect(coderd.jobs().map(({ status }) => status)).toEqual(Array(6).fill('succeeded'));
    await minutes(12);
    expect(lab.world.figures().tasks.running).toBe(0);
    expect(lab.world.figures().killed).toBe(0);
  });
});
