import { describe, expect, it } from 'vitest';
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import {
  deploymentOf,
  keyName,
  madeFor,
  poolOfKey,
  readState,
  writeState,
} from '../../lambda/keys/model/pool.ts';
import { chooseKey, type Held } from '../../lambda/keys/rules/choose-key.ts';
import { CPU } from './key-lab.ts';

const ORG = 'org-1' as OrganizationId;
const WANTED = { organization: ORG, tags: { environment: 'on-prem' } };

const known = (id: string, tags: Record<string, string>, organization = ORG): Held => ({
  kind: 'known',
  facts: { id, name: id, organization, tags, createdAt: 0 as EpochMs },
});
const HELD = {
  none: { kind: 'nothing' },
  garbage: { kind: 'garbage' },
  refused: { kind: 'refused' },
  good: known('good', { environment: 'on-prem' }),
  normal: known('normal', { environment: 'on-prem', scope: 'organization', owner: '' }),
  tags: known('tags', { environment: 'cloud' }),
  more: known('more', { environment: 'on-prem', size: 'large' }),
  org: known('org', { environment: 'on-prem' }, 'org-2' as OrganizationId),
  old: known('old', { environment: 'on-prem' }),
} as const satisfies Record<string, Held>;

describe('the key of a pool', () => {
  it.each([
    { current: 'good', previous: 'none', expected: 'keep good', because: 'it works' },
    { current: 'normal', previous: 'none', expected: 'keep normal', because: 'coderd adds scope and owner' },
    { current: 'none', previous: 'none', expected: 'make nothing', because: 'the stack is new' },
    { current: 'none', previous: 'old', expected: 'make nothing', because: 'nobody switched away from it' },
    {
      current: 'garbage',
      previous: 'old',
      expected: 'make garbage',
      because: 'the old key may be retired on purpose',
    },
    {
      current: 'refused',
      previous: 'old',
      expected: 'make refused',
      because: 'a deleted key may have leaked, and the old one too',
    },
    { current: 'tags', previous: 'old', expected: 'take-back old', because: 'a rollback restores the tags' },
    {
      current: 'org',
      previous: 'old',
      expected: 'take-back old',
      because: 'a rollback restores the organization',
    },
    { current: 'tags', previous: 'more', expected: 'make other-tags', because: 'neither has the tags' },
    { current: 'tags', previous: 'refused', expected: 'make other-tags', because: 'the old one is deleted' },
    { current: 'more', previous: 'none', expected: 'make other-tags', because: 'more tags take other jobs' },
    {
      current: 'org',
      previous: 'none',
      expected: 'make other-organization',
      because: 'a key serves one organization',
    },
  ] as const)(
    'is chosen with $current, before it $previous: $expected, because $because',
    ({ current, previous, expected }) => {
      const choice = chooseKey(HELD[current], HELD[previous], WANTED);
      expect(`${choice.do} ${choice.do === 'make' ? choice.because : choice.facts.id}`).toBe(expected);
    },
  );
});

describe('the name of a key', () => {
  const deployment = deploymentOf(
    'My_Very-Long-Stack-Name',
    'arn:aws:cloudformation:eu-central-1:1:stack/x/1',
  );

  it('has the stack, a hash of its ARN, the pool and the random part, within 64 characters', () => {
    const name = keyName(deployment, 'p'.repeat(30), 'abcd1234');
    expect(name).toMatch(/^myvery-long-st-[0-9a-f]{8}-p{30}-abcd1234$/);
    expect(name.length).toBeLessThanOrEqual(64);
  });

  it.each([
    { name: `${deployment.id}-cpu-abcd1234`, pool: 'cpu' },
    { name: `${deployment.id}-gpu-eu-abcd1234`, pool: 'gpu-eu' },
    { name: `${deployment.id}-cpu-abcd12345`, pool: undefined },
    { name: `${deployment.id}-cpu-ABCD1234`, pool: undefined },
    { name: `${deployment.id}-cpu`, pool: undefined },
    { name: `${deployment.id}abcd1234`, pool: undefined },
    { name: `x${deployment.id}-cpu-abcd1234`, pool: undefined },
    { name: 'cpu-abcd1234', pool: undefined },
  ])('tells of $name that its pool is $pool', ({ name, pool }) => {
    expect(poolOfKey(deployment, name)).toBe(pool);
  });

  it('differs between two stacks of one name', () => {
    expect(deploymentOf('Stack', 'arn:aws:1').id).not.toBe(deploymentOf('Stack', 'arn:aws:2').id);
  });
});

describe('tags of the secret', () => {
  it('tell the state of the resource', () => {
    expect(readState({})).toBeUndefined();
    const state = { is: 'deleted', request: 'r-1', ended: 'r-2' } as const;
    expect(readState({ 'coder-autoscaler:key-resource': writeState(state) })).toEqual(state);
  });

  it('are equal for tags in another order and spellings of one URL, and differ for another organization or URL', () => {
    const pool = { ...CPU, organization: 'data', tags: { a: '1', b: '2' } };
    const same = { organization: 'Data', tags: { b: '2', a: '1' }, coderUrl: 'https://CODER.example.com/' };
    expect(madeFor({ ...pool, ...same })).toBe(madeFor(pool));
    const others = [{ organization: 'ops' }, { coderUrl: 'https://other.example.com' }];
    for (const other of others) expect(madeFor({ ...pool, ...other })).not.toBe(madeFor(pool));
  });
});
