/**
 * Words of users that name a field of every object: tags, variables, pools and organizations may be called
 * `__proto__` or `constructor`. `tripwire` is one more: to look it up in a plain object throws.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { decodeRecord, encodeRecord } from '../lambda/adapters/parameters/record-parameter.ts';
import { readConfig } from '../lambda/config/read.ts';
import type { OrganizationId } from '../lambda/decision/model/brands.ts';
import { normalizeTags, type Tags } from '../lambda/decision/model/tags.ts';
import { CPU, KeyLab } from './keys/key-lab.ts';
import { runIn } from './support/cli-run.ts';
import { commandLabs, logLooks } from './support/command-lab.ts';
import type { LabPool } from './support/lab.ts';
import { ownFolder } from './support/own-folder.ts';
import { NOW } from './support/parts.ts';
import { actionsOf, planOf } from './support/planned.ts';
import { setTripwire, TRIPWIRE } from './support/tripwire.ts';

setTripwire();

const WORDS = ['__proto__', 'constructor', 'toString', TRIPWIRE];
/** Pools have lower-case names. */
const POOLS = ['constructor', TRIPWIRE];

const tagsOf = (word: string, value = 'x'): Tags => Object.fromEntries([[word, value]]);

describe.each(WORDS)('a tag %s', (word) => {
  const tags = tagsOf(word);
  const jobs = { tags, jobs: 20 };

  it('makes no job untagged', () => {
    const plan = planOf({ pools: { cpu: {} }, pending: [jobs] });
    expect(actionsOf(plan)).toEqual([]);
    const [row] = plan.unserved;
    expect(row).toMatchObject({ jobs: 20, why: 'no-pool-has-these-tags' });
    expect(Object.entries(row?.tags ?? {})).toEqual([[word, 'x']]);
    expect(Object.entries(row?.closest?.missing ?? {})).toEqual([[word, 'x']]);
  });

  it('finds the pool that has it, with this value', () => {
    const pools = { one: { tags }, other: { tags: tagsOf(word, 'y') }, untagged: {} };
    expect(actionsOf(planOf({ pools, pending: [jobs] }))).toEqual(['one 0->20 pending-jobs']);
  });

  it('stays in the record of builds', () => {
    const organizationId = 'o' as OrganizationId;
    const logs = [{ tags: normalizeTags(tags), builds: [{ at: NOW - 60_000, tookMs: 30_000 }] }];
    const text = encodeRecord({ organizations: [{ id: organizationId, upTo: NOW, logs }], choices: [] });
    const [organization] = decodeRecord(text ?? '')?.organizations ?? [];
    expect(Object.entries(organization?.logs[0]?.tags ?? {})).toContainEqual([word, 'x']);
  });

  it('gets into a managed key', async () => {
    const lab = new KeyLab({ pools: [{ ...CPU, tags }] });
    await lab.resource('Create', { pool: { ...CPU, tags } });
    expect(lab.ownKeys().map((key) => Object.entries(key.tags))).toEqual([
      expect.arrayContaining([[word, 'x']]),
    ]);
    expect((await lab.check()).pools).toMatchObject([{ works: 'yes', problems: [] }]);
  });
});

describe.each(WORDS)('a configuration with the word %s', (word) => {
  const named = (value: unknown): object => Object.fromEntries([[word, value]]);
  const text = (given: object): string =>
    stringify({
      coder: { url: 'https://coder.example.com', token: { secret: 'token' } },
      defaults: { image: 'ghcr.io/coder/coder:v2.30.0' },
      pools: [{ name: 'cpu', organization: word, key: { secret: 'key' }, ...given }],
      aws: { tags: named('a') },
    });

  it('keeps it as a tag, a variable and an organization', () => {
    const { config } = readConfig(text({ tags: named('a'), environment: named('b') }), 'autoscaler.yaml');
    const [pool] = config.pools;
    expect(pool?.organization).toBe(word);
    const mappings = [pool?.tags, pool?.environment, config.aws.tags];
    expect(mappings.map((mapping) => Object.entries(mapping ?? {}))).toEqual([
      [[word, 'a']],
      [[word, 'b']],
      [[word, 'a']],
    ]);
    const { config: other } = readConfig(text({ secrets: named({ secret: 'c' }) }), 'autoscaler.yaml');
    expect(Object.entries(other.pools[0]?.secrets ?? {})).toEqual([[word, { secret: 'c' }]]);
  });

  it('is refused where its value is wrong, or where no word is free', () => {
    const wrong = text({ ...named(1), tags: named(1), environment: named([]), secrets: named('c') });
    expect(() => readConfig(wrong, 'autoscaler.yaml')).toThrow(
      expect.objectContaining({
        problems: expect.arrayContaining(
          [
            [`pools[0].tags.${word}`, 'expected a string, got 1; put it in quotes'],
            [`pools[0].environment.${word}`, 'expected a string, got a list'],
            [`pools[0].secrets.${word}`, expect.stringContaining('expected a mapping, got a string')],
            [`pools[0].${word}`, expect.stringContaining('unknown setting')],
          ].map(([path, message]) => expect.objectContaining({ path, message })),
        ),
      }),
    );
  });
});

describe.each(POOLS)('a pool %s', (name) => {
  const tags = Object.fromEntries(WORDS.map((word) => [word, 'x']));

  it('costs what its tasks cost in a backtest', async () => {
    const folder = ownFolder();
    const files = { trace: join(folder, 'trace.jsonl'), config: join(folder, 'autoscaler.yaml') };
    const job = { organization: name, tags, seconds: 60, kind: 'user' };
    const lines = ['05', '06'].map((minute) => ({ at: `2026-03-02T08:${minute}:00Z`, ...job }));
    writeFileSync(files.trace, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const pool = { name, organization: name, tags, key: { secret: 'key' }, image: 'coder:v2.30.0' };
    const coder = { url: 'https://coder.example.com', token: { secret: 'token' } };
    writeFileSync(files.config, stringify({ coder, pools: [pool] }));
    const given = ['--trace', files.trace, '--config', files.config, '--workers', '1'];
    const { code, out } = await runIn({}, 'backtest', '--json', ...given);
    expect(code).toBe(0);
    for (const { figures } of JSON.parse(out).runs) {
      expect(figures.waitByPool).toMatchObject({ [name]: { jobs: 2 } });
      expect(Object.keys(figures.tasks.byPool)).toEqual([name]);
      const group = `${name} ${WORDS.map((word) => `${word}=x`).join(' ')}`;
      expect(Object.keys(figures.waitByGroup)).toEqual([group]);
      expect(figures.dollars.tasks).toBeGreaterThan(0);
    }
  });
});

describe('in the world', () => {
  const { start } = commandLabs();
  const ofPool = (name: string, tags: Tags, own: Partial<LabPool> = {}): LabPool => ({
    ...{ name, organization: 'default', tags, desiredCount: 0, max: 30 },
    ...own,
  });

  it('serves the jobs of each such tag in its own pool, and the commands tell it', async () => {
    const lab = await start({
      pools: [
        ofPool('untagged', {}),
        ofPool('constructor', tagsOf('__proto__')),
        ofPool(TRIPWIRE, tagsOf('constructor')),
        ofPool('managed', tagsOf(TRIPWIRE), { credential: 'managed' }),
      ],
    });
    const { coderd } = lab.world;
    await logLooks(lab, 10);
    const submit = (word: string) =>
      coderd.submitJob({ organization: 'default', tags: tagsOf(word), durationMs: 60_000 });
    const ids = ['__proto__', 'constructor', TRIPWIRE, 'toString'].map(submit);
    await logLooks(lab, 20);
    const screens = [['plan'], ['plan', '--explain', TRIPWIRE], ['status'], ['explain', ids[0] ?? '']];
    for (const words of screens) expect(await lab.call(...words)).toMatchObject({ code: 0, err: '' });
    expect((await lab.call('plan')).out).toContain('__proto__=x');
    await logLooks(lab, 200);
    expect(ids.map((id) => coderd.jobs().find((job) => job.id === id)?.status)).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
      'pending',
    ]);
    expect(lab.world.ecs.tasks().map(({ identity }) => identity.serviceName)).toHaveLength(3);
  });
});

/** A folder with the project's rules and these modules, and what the linter says of each. */
function lint(modules: readonly string[]): readonly string[] {
  const folder = ownFolder();
  for (const path of ['biome.json', '.gitignore', 'lint'])
    cpSync(path, join(folder, path), { recursive: true });
  const paths = modules.map((_, index) => join(LINTED[index % LINTED.length] ?? '', `module-${index}.ts`));
  for (const path of LINTED) mkdirSync(join(folder, path));
  for (const [index, path] of paths.entries()) writeFileSync(join(folder, path), `${modules[index]}\n`);
  const biome = join(process.cwd(), 'node_modules/.bin/biome');
  const { stdout } = spawnSync(biome, ['lint', '--reporter=github'], { cwd: folder, encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => line.includes('title=plugin'));
  return paths.map(
    (path) =>
      lines
        .find((line) => line.includes(`/${path},`))
        ?.split('::')
        .at(-1) ?? 'nothing',
  );
}

const LINTED = ['lambda', 'infra', 'cli', 'lab'];

it('keeps words of users out of plain objects with a lint rule', () => {
  const table = 'const CAUSES: Readonly<Record<string, string>> = {};\n';
  const refused = [
    ['export const schema = z.record(z.string(), z.string());', 'mapping()'],
    ['export const schema = z\n  .object({})\n  .catchall(z.string());', 'mapping()'],
    ['export const has = (word: string): boolean => word in table;', 'Object.hasOwn()'],
    [`${table}export const cause = (word: string) => CAUSES[word];`, 'ownValue()'],
    ['export const value = (pool: Pool, word: string) => pool.tags[word];', 'ownValue()'],
    [
      'export const set = (tags: Record<string, string>, word: string) => {\n  tags[word] = word;\n};',
      'ownValue()',
    ],
  ] as const;
  const accepted = [
    "export const isThere = (value: object): boolean => 'code' in value;",
    'export const first = (items: string[], index: number) => items[index];',
    'export const pool = (tags: Record<string, string>) => tags[POOL_TAG];',
    `${table}export const cause = (word: string) => ownValue(CAUSES, word);`,
  ];
  const said = lint([...refused.map(([code]) => code), ...accepted]);
  expect(said).toEqual([
    ...refused.map(([, use]) => expect.stringContaining(`Use ${use}`)),
    ...accepted.map(() => 'nothing'),
  ]);
});
