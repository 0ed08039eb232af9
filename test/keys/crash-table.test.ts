/**
 * Every event in every state of coderd and the secret, with a crash after each call. Afterwards the
 * event comes again, and sweeps follow. No build may be lost, every pool must end with a working
 * key, foreign keys must stay, and no key of ours may be left that nobody uses. No log or error may
 * contain a key.
 */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ROTATION_STEPS } from '../../lab/world/secrets/model.ts';
import { keyName, RESOURCE_TAG } from '../../lambda/keys/model/pool.ts';
import { IS_FULL, rows as someRows } from '../support/runs.ts';
import { CPU, crashAfter, DEPLOYMENT, HOUR, KeyLab, keyIn, OTHER_DEPLOYMENT, revive } from './key-lab.ts';

const IN_CODERD = ['none', 'right', 'wrong tags', 'foreign'] as const;
const IN_SECRET = ['none', 'right', 'stale', 'garbage'] as const;
const EVENTS = ['Create', 'Update', 'Delete', ...ROTATION_STEPS] as const;
const VERSIONS = ['v2.36.0', 'v2.37.0'] as const;

type Row = {
  readonly coderd: (typeof IN_CODERD)[number];
  readonly secret: (typeof IN_SECRET)[number];
  readonly event: (typeof EVENTS)[number];
};

const ROWS: readonly Row[] = IN_CODERD.flatMap((coderd) =>
  IN_SECRET.flatMap((secret) => EVENTS.map((event) => ({ coderd, secret, event }))),
);

const UNKNOWN_KEY = 'u'.repeat(43);
/** Keys that are almost ours: of a twin stack, of another pool's name, with a longer suffix. */
const FOREIGN = [
  keyName(OTHER_DEPLOYMENT, 'cpu', 'abcd1234'),
  `${DEPLOYMENT.id}-cpu-abcd12345`,
  `${DEPLOYMENT.id}-cpu`,
  'by-hand',
];

function prepare({ coderd, secret, event }: Row, version: string): KeyLab {
  const lab = new KeyLab({ version });
  for (const name of FOREIGN) lab.coderd.addKey({ organization: 'default', name, tags: {} });
  const key = addKeyTo(lab, coderd);
  const value = storedText(lab, secret, key);
  if (value !== undefined) lab.secrets.put(lab.secretName('cpu'), value);
  if (event !== 'Create') lab.secret().tags.set(RESOURCE_TAG, 'created request-0');
  lab.startTask();
  return lab;
}

function addKeyTo(lab: KeyLab, coderd: Row['coderd']): string | undefined {
  if (coderd === 'none') return undefined;
  const name = coderd === 'foreign' ? 'key-of-a-person' : keyName(DEPLOYMENT, 'cpu', 'first000');
  const tags = coderd === 'wrong tags' ? { environment: 'cloud' } : CPU.tags;
  return lab.coderd.addKey({ organization: 'default', name, tags });
}

function storedText(lab: KeyLab, secret: Row['secret'], key: string | undefined): string | undefined {
  if (secret === 'none') return undefined;
  if (secret === 'garbage') return 'hello';
  const inside = secret === 'right' ? (key ?? UNKNOWN_KEY) : UNKNOWN_KEY;
  const known = lab.coderd.keys.withSecret(inside);
  return JSON.stringify({ key: inside, id: known?.id ?? 'gone', name: known?.name ?? 'gone' });
}

type Play = {
  /** What happens before the event. */
  readonly before: () => Promise<void>;
  readonly event: () => Promise<unknown>;
  /** CloudFormation repeats the event, Secrets Manager the entire rotation. */
  readonly again: () => Promise<unknown>;
};

function playOf(lab: KeyLab, event: Row['event']): Play {
  if (event === 'Create' || event === 'Update' || event === 'Delete') {
    const serve = () => lab.resource(event);
    return { before: async () => {}, event: serve, again: serve };
  }
  const token = lab.announce();
  const steps = async (wanted: readonly (typeof event)[]): Promise<void> => {
    for (const step of wanted) await lab.step(step, token);
  };
  return {
    before: () => steps(ROTATION_STEPS.slice(0, ROTATION_STEPS.indexOf(event))),
    event: () => lab.step(event, token),
    again: () => steps(ROTATION_STEPS),
  };
}

/** Whether the event comes again after the crash, or CloudFormation takes the pool away again. */
type Ending = 'repeated' | 'lost' | 'rolled back';

/** Runs one row with a crash after call `at`. Returns whether the event had as many calls. */
async function run(row: Row, at: number, { version, ending }: Setting): Promise<boolean> {
  const lab = prepare(row, version);
  // When a stack is deleted, its services are deleted first.
  if (row.event === 'Delete') {
    lab.stopTasks();
    lab.services.delete('cpu');
  }
  const foreignBefore = foreignKeys(lab);
  const play = playOf(lab, row.event);
  await play.before();
  const calls = crashAfter(lab, at);
  const error: unknown = await play.event().catch((cause: unknown) => cause);
  const wasLong = calls() >= at;
  revive(lab);
  expectNoLoss(lab, 'after the crash');
  if (ending === 'repeated') {
    await play.again();
    expectNoLoss(lab, 'after the event');
    if (row.event === 'Delete') expect(ownNames(lab)).toEqual([]);
    else expectWorks(lab, 'after the event');
  }
  if (ending === 'rolled back') rollBack(lab);
  if (row.event === 'Delete') lab.pools = [];
  await settle(lab);
  expectNoKeyIn(lab, [error, lab.log]);
  expect(foreignKeys(lab)).toEqual(foreignBefore);
  expect(ownNames(lab)).toEqual(expectedNames(lab, row, ending));
  return wasLong;
}

/** CDK's framework tells nobody of the deletion of a resource whose creation has failed. */
function rollBack(lab: KeyLab): void {
  lab.stopTasks();
  lab.services.delete('cpu');
  lab.secrets.delete(lab.secretName('cpu'));
  lab.pools = [];
}

/** A rotation that never ends keeps its pending key, or holds all deletions if it has none. */
function expectedNames(lab: KeyLab, { event }: Row, ending: Ending): readonly string[] {
  if (event === 'Delete' || ending === 'rolled back') return [];
  const held = ['AWSCURRENT', 'AWSPENDING'].map((stage) => lab.secret().withStage(stage));
  const isHeld = held.some((version) => version !== undefined && version.value === undefined);
  if (ending === 'lost' && isHeld) return ownNames(lab);
  const used = held.flatMap((version) => lab.coderd.keys.withSecret(keyIn(version?.value))?.name ?? []);
  return ownNames(lab).filter((name) => used.includes(name));
}

function ownNames(lab: KeyLab): readonly string[] {
  return lab.ownKeys().flatMap(({ name }) => (FOREIGN.includes(name) ? [] : name));
}

/** Old tasks leave, new ones come, and more than a day passes, with sweeps. */
async function settle(lab: KeyLab): Promise<void> {
  const isDeleted = lab.pools.length === 0;
  const sweepAfter = async (hours: number): Promise<void> => {
    lab.pass(hours * HOUR);
    await lab.sweep();
    expectNoLoss(lab, `${hours} hours later`);
    if (!isDeleted) expectWorks(lab, `${hours} hours later`);
  };
  await sweepAfter(0);
  await sweepAfter(1);
  lab.stopTasks();
  await sweepAfter(25);
  if (!isDeleted) expect(lab.startTask()).toBeDefined();
  await sweepAfter(1);
}

function expectNoLoss(lab: KeyLab, when: string): void {
  expect(lab.lostTasks(), `tasks with a deleted key ${when}`).toEqual([]);
}

function expectNoKeyIn(lab: KeyLab, said: unknown): void {
  const text = inspect(said, { depth: 10, showHidden: true });
  for (const { value } of lab.secret().versions)
    if (keyIn(value) !== '') expect(text).not.toContain(keyIn(value));
}

function expectWorks(lab: KeyLab, when: string): void {
  expect(lab.workingKey()?.tags, `the tags of the working key ${when}`).toEqual(CPU.tags);
}

function foreignKeys(lab: KeyLab): readonly string[] {
  return lab.keyNames().filter((name) => FOREIGN.includes(name) || name === 'key-of-a-person');
}

type Setting = { readonly version: string; readonly ending: Ending };

const SETTINGS: readonly (Setting & { readonly rows: readonly Row[] })[] = VERSIONS.flatMap((version) => [
  { version, ending: 'repeated', rows: ROWS },
  // CloudFormation never leaves a creation or deletion at that.
  { version, ending: 'lost', rows: ROWS.filter(({ event }) => event !== 'Create' && event !== 'Delete') },
  { version, ending: 'rolled back', rows: ROWS.filter(({ event }) => event === 'Create') },
]);

describe.each(IS_FULL ? SETTINGS : SETTINGS.slice(0, SETTINGS.length / VERSIONS.length))(
  'with coderd $version, an event that is $ending',
  ({ rows, ...setting }) => {
    it.each(someRows(rows, 8))(
      '$event with "$coderd" in coderd and "$secret" in the secret loses no build and leaves one working key, wherever it crashes',
      async (row) => {
        let at = 1;
        while (await run(row, at, setting)) at += 1;
        expect(at, 'calls of the event').toBeGreaterThan(1);
      },
    );
  },
);

it('reads the field that tasks read', () => {
  expect(keyIn('{"key":"abc"}')).toBe('abc');
  expect(keyIn('hello')).toBe('');
});
