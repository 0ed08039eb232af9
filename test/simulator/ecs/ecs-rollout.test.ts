/** How the simulated ECS replaces a revision, in each reading of AWS's texts. */
import { describe, expect, it } from 'vitest';
import { callEcs } from '../../../simulator/ecs/api.ts';
import type { EcsOptions, NewService } from '../../../simulator/ecs/model.ts';
import type { EcsTask } from '../../../simulator/ecs/task.ts';
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

/** The same with one task of the old revision and one of the new, which has made the deployment a success. */
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

/** The first old task ends by itself. */
function endOld(fixture: Fixture): void {
  const isOld = ({ identity }: EcsTask): boolean => identity.definition.revision === 1;
  const task = fixture.tasks().find(isOld);
  if (task !== undefined) fixture.container(task).host.exit(1);
}

function listedDeployments(fixture: Fixture): readonly unknown[] {
  const { clusterName: cluster } = fixture.ecs;
  const answer = callEcs(fixture.ecs, 'DescribeServices', {
    cluster,
    services: [fixture.service.identity.name],
  });
  return 'services' in answer
    ? ((answer.services as { deployments: unknown[] }[])[0]?.deployments ?? [])
    : [];
}

describe('an old task that ends by itself', () => {
  it('is replaced by the newest revision in one reading', () => {
    const fixture = deploying();
    endOld(fixture);
    fixture.pass(MINUTE);
    expect(revisionsOf(fixture)).toEqual([1, 2]);
  });

  it('is replaced by its own revision in the other, which stays if it gets its lease in time', () => {
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
  ] as const)('goes to $scaleOut in that reading', ({ scaleOut, expected }) => {
    const fixture = deploying({ rollout: { scaleOut, replacement: 'same' } });
    fixture.desire(5);
    fixture.pass(10_000);
    expect([...revisionsOf(fixture)].sort()).toEqual(expected);
  });
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
    { name: 'without early success', percent: undefined },
    { name: 'where the first healthy task is a success', percent: 1 },
  ])('goes back to the last revision that completed, $name', ({ percent }) => {
    const fixture = breaking(percent);
    expect(fixture.running().map(({ identity }) => identity.definition.revision)).toEqual([1, 1]);
    expect(rolloutOf(fixture)).toBe('COMPLETED');
  });

  it('never acts where a deployment succeeds before a task is healthy', () => {
    const fixture = breaking(0);
    expect(fixture.service.state.primary.definition.revision).toBe(2);
    expect(fixture.running()).toEqual([]);
  });
});

describe('after an early success', () => {
  it('a protected old task is left alone, and the deployment is complete', () => {
    const fixture = cleaningUp();
    expect(rolloutOf(fixture)).toBe('COMPLETED');
    expect(revisionsOf(fixture)).toEqual([1, 2]);
  });

  it('ends the clean-up with the last old task', () => {
    const fixture = cleaningUp();
    release(fixture);
    fixture.pass(5 * MINUTE);
    expect(revisionsOf(fixture)).toEqual([2, 2]);
    expect(fixture.service.state.older).toEqual([]);
  });

  it('does not replace an old task that ends by the old revision for ever', () => {
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
  ])('counts old tasks, or not: $counts', ({ counts, expected }) => {
    const fixture = cleaningUp({ cleanup: { counts } });
    expect(revisionsOf(fixture)).toEqual(expected);
  });

  it.each([
    { lists: true, expected: 2 },
    { lists: false, expected: 1 },
  ])('lists the old deployment, or not: $lists', ({ lists, expected }) => {
    expect(listedDeployments(cleaningUp({ cleanup: { lists } }))).toHaveLength(expected);
  });

  it.each([
    { blocks: true, expected: 'DEPLOYMENT_BLOCKED' },
    { blocks: false, expected: undefined },
  ])('refuses leases because of old tasks, or not: $blocks', ({ blocks, expected }) => {
    const fixture = deploying({ deploymentBlocked: 'all', cleanup: { blocks } }, { earlySuccessPercent: 1 });
    release(fixture);
    fixture.pass(5 * MINUTE);
    const [, fresh] = fixture.tasks();
    expect(fixture.ecs.protect(fresh?.identity.id ?? '', 600)).toBe(expected);
  });

  it('lets another deployment begin, or refuses it', () => {
    expect(() => cleaningUp().deploy()).not.toThrow();
    expect(() => cleaningUp({ cleanup: { admits: false } }).deploy()).toThrow(/earlier deployment/);
  });
});
