/** Tests how the simulated ECS replaces a revision, in each reading of the AWS texts. */
import { describe, expect, it } from 'vitest';
import { callService } from '../../../world/base/aws-service.ts';
import { ECS } from '../../../world/ecs/api.ts';
import type { EcsOptions, NewService } from '../../../world/ecs/model.ts';
import type { EcsTask } from '../../../world/ecs/task.ts';
import { Fixture, MINUTE } from './ecs-fixture.ts';

/** A service of two protected tasks whose deployment begins now. */
function deploying(options: Partial<EcsOptions> = {}, service: Partial<NewService> = {}): Fixture {
  const fixture = new Fixture({ deploymentBlocked: 'off', ...options }, { desiredCount: 2, ...service });
  fixture.pass(2 * MINUTE);
  for (const task of fixture.tasks()) fixture.ecs.protect(task.identity.id, 600);
  fixture.deploy();
  fixture.pass(MINUTE);
  return fixture;
}

/** Like `deploying`, with one old task and one new task, which has made the deployment succeed. */
function cleaningUp(options: Partial<EcsOptions> = {}): Fixture {
  const fixture = deploying(options, { earlySuccessPercent: 1 });
  release(fixture);
  fixture.pass(5 * MINUTE);
  for (const task of fixture.tasks()) fixture.ecs.protect(task.identity.id, 600);
  return fixture;
}

function release(fixture: Fixture): void {
  fixture.ecs.unprotect(fixture.firstTask().identity.id);
}

const revisionsOf = (fixture: Fixture): readonly number[] =>
  fixture.tasks().map(({ identity }) => identity.definition.revision);
const rolloutOf = (fixture: Fixture): string => fixture.service.state.primary.rolloutState;

/** Ends the container of the first old task. */
function endOld(fixture: Fixture): void {
  const isOld = ({ identity }: EcsTask): boolean => identity.definition.revision === 1;
  const task = fixture.tasks().find(isOld);
  if (task !== undefined) fixture.container(task).host.exit(1);
}

function listedDeployments(fixture: Fixture): readonly unknown[] {
  const { clusterName: cluster } = fixture.ecs;
  const body = { cluster, services: [fixture.service.identity.name] };
  const answer = callService(ECS, fixture.ecs, { name: 'DescribeServices', body });
  return 'services' in answer
    ? ((answer.services as { deployments: unknown[] }[])[0]?.deployments ?? [])
    : [];
}

describe('an old task that ends by itself', () => {
  it('is replaced with the newest revision in one reading of the AWS text', () => {
    const fixture = deploying();
    endOld(fixture);
    fixture.pass(MINUTE);
    expect(revisionsOf(fixture)).toEqual([1, 2]);
  });

  it('is replaced with its own revision in the other reading, and the new task stays with a lease', () => {
    const fixture = deploying({ rollout: { replacement: 'same' } });
    endOld(fixture);
    fixture.pass(20_000);
    expect(revisionsOf(fixture)).toEqual([1, 1]);
    fixture.pass(2 * MINUTE);
    expect(revisionsOf(fixture)).toEqual([1, 2]);
  });
});

describe('a raised count', () => {
  it.each([
    { scaleOut: 'newest', expected: [1, 1, 2, 2, 2] },
    { scaleOut: 'both', expected: [1, 1, 1, 1, 2] },
  ] as const)(
    'starts tasks of the revision "$scaleOut" in that reading of the AWS text',
    ({ scaleOut, expected }) => {
      const fixture = deploying({ rollout: { scaleOut, replacement: 'same' } });
      fixture.desire(5);
      fixture.pass(10_000);
      expect([...revisionsOf(fixture)].sort()).toEqual(expected);
    },
  );
});

describe('the circuit breaker', () => {
  const breaking = (percent?: number): Fixture => {
    const fixture = new Fixture(
      {},
      { desiredCount: 2, ...(percent === undefined ? {} : { earlySuccessPercent: percent }) },
    );
    fixture.pass(5 * MINUTE);
    const definition = fixture.ecs.registerTaskDefinition('Family', fixture.image);
    fixture.ecs.failRevision(definition, 'CannotPullContainerError');
    fixture.ecs.deploy(fixture.service.identity.name, definition);
    fixture.pass(30 * MINUTE);
    return fixture;
  };

  it.each([
    { name: 'when a deployment cannot succeed early', percent: undefined },
    { name: 'when the first healthy task makes a deployment succeed', percent: 1 },
  ])('rolls back to the last completed revision $name', ({ percent }) => {
    const fixture = breaking(percent);
    expect(fixture.running().map(({ identity }) => identity.definition.revision)).toEqual([1, 1]);
    expect(rolloutOf(fixture)).toBe('COMPLETED');
  });

  it('never rolls back a deployment that succeeds before any task is healthy', () => {
    const fixture = breaking(0);
    expect(fixture.service.state.primary.definition.revision).toBe(2);
    expect(fixture.running()).toEqual([]);
  });
});

describe('a deployment that has succeeded early', () => {
  it('is complete and leaves a protected old task running', () => {
    const fixture = cleaningUp();
    expect(rolloutOf(fixture)).toBe('COMPLETED');
    expect(revisionsOf(fixture)).toEqual([1, 2]);
  });

  it('ends its clean-up when the last old task stops', () => {
    const fixture = cleaningUp();
    release(fixture);
    fixture.pass(5 * MINUTE);
    expect(revisionsOf(fixture)).toEqual([2, 2]);
    expect(fixture.service.state.older).toEqual([]);
  });

  it('stops replacing old tasks with the old revision after a while', () => {
    const fixture = cleaningUp({ rollout: { replacement: 'same' } });
    endOld(fixture);
    fixture.pass(20_000);
    expect(revisionsOf(fixture)).toEqual([2, 1]);
    fixture.pass(5 * MINUTE);
    expect(revisionsOf(fixture)).toEqual([2, 2]);
  });

  it.each([
    { counts: true, expected: [1, 2] },
    { counts: false, expected: [1, 2, 2] },
  ])('starts tasks for the desired count with cleanup.counts $counts', ({ counts, expected }) => {
    const fixture = cleaningUp({ cleanup: { counts } });
    expect(revisionsOf(fixture)).toEqual(expected);
  });

  it.each([
    { lists: true, expected: 2 },
    { lists: false, expected: 1 },
  ])('lists $expected deployment(s) with cleanup.lists $lists', ({ lists, expected }) => {
    expect(listedDeployments(cleaningUp({ cleanup: { lists } }))).toHaveLength(expected);
  });

  it.each([
    { blocks: true, expected: 'DEPLOYMENT_BLOCKED' },
    { blocks: false, expected: undefined },
  ])(
    'answers $expected to a new lease beside old tasks with cleanup.blocks $blocks',
    ({ blocks, expected }) => {
      const fixture = deploying(
        { deploymentBlocked: 'all', cleanup: { blocks } },
        { earlySuccessPercent: 1 },
      );
      release(fixture);
      fixture.pass(5 * MINUTE);
      const [, fresh] = fixture.tasks();
      expect(fixture.ecs.protect(fresh?.identity.id ?? '', 600)).toBe(expected);
    },
  );

  it('admits or refuses another deployment, depending on cleanup.admits', () => {
    expect(() => cleaningUp().deploy()).not.toThrow();
    expect(() => cleaningUp({ cleanup: { admits: false } }).deploy()).toThrow(/earlier deployment/);
  });
});
