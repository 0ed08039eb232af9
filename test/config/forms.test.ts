/** The form of each setting that is a text: what is accepted, and what is refused. */
import { describe, expect, it } from 'vitest';
import {
  looksLikeSecret,
  shown,
  shownDuration,
  shownText,
  subject,
} from '../../lambda/config/problems/shown.ts';
import { parseDuration } from '../../lambda/config/schema/durations.ts';
import { CODER, fileWith, problemsOf } from './written.ts';

type Form = {
  /** The path of the setting. */
  readonly at: string;
  readonly write: (text: string) => object;
  readonly good: readonly string[];
  readonly bad: readonly string[];
};

const inPool = (name: string) => (text: string) => fileWith({ [name]: text });
const inAws = (name: string) => (text: string) => fileWith({}, { aws: { [name]: text } });
const ROLE = 'arn:aws:iam::123456789012:role/';
const POLICY = 'arn:aws:iam::123456789012:policy/';
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:';
const KEY = 'arn:aws:kms:eu-central-1:123456789012:key/';
const UUID = '01234567-89ab-cdef-0123-456789abcdef';
const SECRET = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:';
const SUBNETS = ['subnet-0a1b2c3d'];

const FORMS: readonly Form[] = [
  {
    at: 'pools[0].name',
    write: inPool('name'),
    good: ['a', '0', 'a-b', 'a'.repeat(30)],
    bad: ['', '-a', 'A', 'a_b', 'a b', 'a'.repeat(31), 'a/b'],
  },
  {
    at: 'pools[0].organization',
    write: inPool('organization'),
    good: ['default', UUID, 'Ärzte'],
    bad: ['', 'a b', 'a/b', ' a', 'a\n'],
  },
  {
    at: 'pools[0].image',
    write: inPool('image'),
    good: [
      'coder',
      'ghcr.io/coder/coder:v2.29.19',
      'localhost:5000/coder:v2',
      'coder@sha256:0a1b',
      'coder:v2@sha256:0a1b',
      'coder:_v2.0-rc_1',
    ],
    bad: [
      '',
      'a b',
      'coder:',
      'coder:v2:v3',
      'coder:-v2',
      'coder@sha256',
      'coder:v2 ',
      ' coder',
      'localhost:x/coder',
    ],
  },
  {
    at: 'pools[0].capacity.provider',
    write: (provider) => fileWith({ capacity: { provider } }),
    good: ['builders', 'my-aws', 'a'.repeat(255), 'ec2_builders'],
    bad: ['', 'aws-x', 'AWS', 'ecs', 'eCs-x', 'fargate', 'FARGATE_SPOT', 'a b', 'a/b', 'a'.repeat(256)],
  },
  {
    at: 'pools[0].peers.self',
    write: (self) => fileWith({ peers: { self, others: ['us'] } }),
    good: ['eu', 'EU-1', '1', 'a'.repeat(128)],
    bad: ['', '-eu', 'e u', 'eu_1', 'a'.repeat(129)],
  },
  {
    at: 'roll.atOnce',
    write: (atOnce) => fileWith({}, { roll: { atOnce } }),
    good: ['1%', '10%', '99%', '100%'],
    bad: ['0%', '101%', '25', '025%', '1000%', '-1%', 'a25%', '25%b', '5.5%'],
  },
  {
    at: 'pools[0].idleTimeout',
    write: inPool('idleTimeout'),
    good: ['0s', '20s', '5m', '1h', '999999s'],
    bad: ['', '20', '20 s', '1d', '-1s', '1.5h', '1000000s', '20ss', 'a20s', '20sb'],
  },
  {
    at: 'pools[0].startTime',
    write: inPool('startTime'),
    good: ['10s', '600s', '10m'],
    bad: ['9s', '601s', '11m', '1h'],
  },
  {
    at: 'looks.every',
    write: (every) => fileWith({}, { looks: { every } }),
    good: ['auto', '1s', '60s', '1m'],
    bad: ['0s', '61s', '2m', 'automatic'],
  },
  {
    at: 'pools[0].key.secret',
    write: (secret) => fileWith({ key: { secret } }),
    good: ['coder/key', `${SECRET}coder/key-AbCdEf`, 'a_b+c=d.e@f-g', 'a'.repeat(512)],
    bad: [
      '',
      'a b',
      'a:b',
      ` ${SECRET}a`,
      `${SECRET}`,
      'arn:aws:ssm:eu-central-1:123456789012:parameter/a',
      'a'.repeat(513),
    ],
  },
  {
    at: 'pools[0].key.jsonKey',
    write: (jsonKey) => fileWith({ key: { secret: 'a', jsonKey } }),
    good: ['key', 'a.b', 'Schlüssel'],
    bad: ['', 'a b', 'a:b', ' a', 'a\t'],
  },
  {
    at: 'coder.caBundle',
    write: (caBundle) => fileWith({}, { coder: { ...CODER, caBundle } }),
    good: ['ca.pem', ' ca.pem', './a b.pem'],
    bad: ['', ' ', '\n'],
  },
  {
    at: 'aws.stack',
    write: inAws('stack'),
    good: ['A', 'Coder-2', 'a'.repeat(128)],
    bad: ['', '2nd', '-a', 'a_b', 'a b', 'a'.repeat(129)],
  },
  {
    at: 'aws.cluster',
    write: inAws('cluster'),
    good: ['platform', 'a_b-1', 'a'.repeat(255)],
    bad: ['', 'a/b', 'a b', 'a'.repeat(256)],
  },
  {
    at: 'aws.logs.group',
    write: (group) => fileWith({}, { aws: { logs: { group } } }),
    good: ['/platform/coder', 'a.b-c_d', 'my/aws/logs', 'a'.repeat(256)],
    bad: ['', 'aws/lambda', 'a b', '#a', 'a#', 'a'.repeat(257)],
  },
  {
    at: 'aws.kmsKey',
    write: inAws('kmsKey'),
    good: [
      `${KEY}${UUID}`,
      `${KEY}mrk-${'0'.repeat(32)}`,
      `arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/${UUID}`,
    ],
    bad: [
      `x${KEY}${UUID}`,
      `${KEY}${UUID}0`,
      `${KEY}mrk-0`,
      `${KEY.replace('kms', 'iam')}${UUID}`,
      `${KEY.replace('12:', '1:')}${UUID}`,
      UUID,
    ],
  },
  {
    at: 'aws.permissionsBoundary',
    write: inAws('permissionsBoundary'),
    good: [
      `${POLICY}boundary`,
      `${POLICY}team/a+b=c,d.e@f-g_h`,
      'arn:aws:iam::aws:policy/AdministratorAccess',
    ],
    bad: [`${ROLE}boundary`, POLICY, `${POLICY}a b`, `x${POLICY}a`, 'arn:aws:iam:::policy/a'],
  },
  {
    at: 'aws.alarms.topic',
    write: (topic) => fileWith({}, { aws: { alarms: { topic } } }),
    good: [`${TOPIC}on-call`, `${TOPIC}${'a'.repeat(256)}`],
    bad: [`${TOPIC}on-call.fifo`, TOPIC, `${TOPIC}${'a'.repeat(257)}`, `x${TOPIC}a`, `${TOPIC}a:b`],
  },
  {
    at: 'pools[0].taskRole.arn',
    write: (arn) => fileWith({ taskRole: { arn } }),
    good: [`${ROLE}terraform`, `${ROLE}team/terraform`],
    bad: [`${POLICY}terraform`, ROLE, `x${ROLE}a`, `${ROLE}a b`, 'arn:aws:iam::aws:role/a'],
  },
  {
    at: 'aws.network.vpc',
    write: (vpc) => fileWith({}, { aws: { network: { vpc, subnets: SUBNETS } } }),
    good: ['vpc-0a1b2c3d', 'vpc-0123456789abcdef0'],
    bad: ['', 'vpc-1', 'xvpc-0a1b2c3d', 'vpc-0a1b2c3d4', 'vpc-0A1B2C3D', 'subnet-0a1b2c3d'],
  },
  {
    at: 'pools[0].schedules[0].from',
    write: (from) => fileWith({ schedules: [{ from, to: '12:34', timezone: 'UTC', warm: 1 }] }),
    good: ['00:00', '09:59', '19:00', '23:59'],
    bad: ['24:00', '9:00', '09:60', '29:00', '009:00', '09:000', '0900'],
  },
  {
    at: 'pools[0].schedules[0].to',
    write: (to) => fileWith({ schedules: [{ from: '12:34', to, timezone: 'UTC', warm: 1 }] }),
    good: ['00:00', '23:59', '24:00'],
    bad: ['24:01', '25:00', '9:00', '124:00', '24:000', '1:00'],
  },
  {
    at: 'pools[0].schedules[0].days',
    write: (days) =>
      fileWith({ schedules: [{ days, from: '12:34', to: '13:00', timezone: 'UTC', warm: 1 }] }),
    good: ['mon', 'mon-fri', 'mon,wed', 'mon, wed', 'fri-mon,wed'],
    bad: ['', 'Mon', 'mo', 'mon-', 'mon,', 'mon;tue', 'xmon', 'monday', 'mon,  tue'],
  },
  {
    at: 'pools[0].schedules[0].timezone',
    write: (timezone) => fileWith({ schedules: [{ from: '12:34', to: '13:00', timezone, warm: 1 }] }),
    good: ['UTC', 'Europe/Berlin', 'Asia/Calcutta'],
    bad: ['', '+01:00', 'Berlin', 'Europe/Berlin '],
  },
  {
    at: 'coder.url',
    write: (url) => fileWith({}, { coder: { ...CODER, url } }),
    good: ['https://coder.example.com', 'https://coder.example.com/', 'HTTPS://CODER.example.com:8443'],
    bad: [
      ...[
        '',
        'coder.example.com',
        'ftp://coder.example.com',
        'xhttps://coder.example.com',
        'https:coder.example.com',
      ],
      ...['https://ada@coder.example.com', 'https://:x@coder.example.com', 'https://coder.example.com/coder'],
      ...['https://coder.example.com?a', 'https://coder.example.com#a', 'http://coder.example.com'],
      ...['http://localhost.example.com', 'http://126.0.0.1', 'http://[::2]'],
    ],
  },
  {
    at: 'coder.proxy',
    write: (proxy) => fileWith({}, { coder: { ...CODER, proxy } }),
    good: ['http://proxy:3128', 'http://proxy:3128/', 'HTTP://proxy'],
    bad: [
      ...[
        '',
        'proxy:3128',
        'https://proxy:3128',
        'xhttp://proxy',
        'http:proxy',
        'http://ada@proxy',
        'http://:x@proxy',
      ],
      ...['http://proxy/pac', 'http://proxy?a', 'http://proxy#a'],
    ],
  },
];

describe.each(FORMS)('$at', ({ at, write, good, bad }) => {
  const errorsAt = (text: string): readonly string[] =>
    problemsOf(write(text)).filter((line) => line.startsWith(`${at}: `));

  it.each(good.map((text) => ({ text })))('may be "$text"', ({ text }) => {
    expect(errorsAt(text)).toEqual([]);
  });

  it.each(bad.map((text) => ({ text })))('may not be "$text"', ({ text }) => {
    expect(errorsAt(text)).toHaveLength(1);
  });
});

it.each([
  { name: 'A', good: true },
  { name: '_a1', good: true },
  { name: '1A', good: false },
  { name: 'A-B', good: false },
  { name: 'A B', good: false },
  { name: '', good: false },
  { name: 'ÄB', good: false },
  { name: 'MY_CODER_URL', good: true },
  { name: 'CODER_URL', good: false },
  { name: 'CODER_PROVISIONER_DAEMON_NAME', good: false },
  { name: 'AUTOSCALER_POOL', good: false },
  { name: 'AUTOSCALER_CA_BUNDLE', good: false },
  { name: 'AUTOSCALER_TEST_X', good: false },
  { name: 'AUTOSCALER_TESTS', good: true },
])('may have a variable "$name" ($good)', ({ name, good }) => {
  expect(problemsOf(fileWith({ environment: { [name]: 'x' } })).length === 0).toBe(good);
  expect(problemsOf(fileWith({ secrets: { [name]: { secret: 'x' } } })).length === 0).toBe(good);
});

it.each([
  { tags: { a: '' }, good: true },
  { tags: { 'aws-x': 'x' }, good: true },
  { tags: { 'k: _./=+-@ä1': 'v: _./=+-@ä1' }, good: true },
  { tags: { ['k'.repeat(128)]: 'v'.repeat(256) }, good: true },
  { tags: { '': 'x' }, good: false },
  { tags: { 'a;': 'x' }, good: false },
  { tags: { ';a': 'x' }, good: false },
  { tags: { a: ';x' }, good: false },
  { tags: { 'aws:x': 'x' }, good: false },
  { tags: { 'my-aws:x': 'x' }, good: true },
  { tags: { 'my-coder-autoscaler:x': 'x' }, good: true },
  { tags: { 'coder-autoscaler:x': 'x' }, good: false },
  { tags: Object.fromEntries(Array.from({ length: 35 }, (_, index) => [`t${index}`, 'x'])), good: true },
])('may have the AWS tags $tags ($good)', ({ tags, good }) => {
  expect(problemsOf(fileWith({}, { aws: { tags } })).length === 0).toBe(good);
});

it.each([
  ...[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
  ],
])('may keep logs for %i days', (retentionDays) => {
  expect(problemsOf(fileWith({}, { aws: { logs: { retentionDays } } }))).toEqual([]);
  expect(problemsOf(fileWith({}, { aws: { logs: { retentionDays: retentionDays + 1 } } }))).toHaveLength(1);
});

describe('a list with a bound', () => {
  const ids = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}-0a1b2c${String(index).padStart(2, '0')}`);
  const network = (given: object) =>
    problemsOf(fileWith({}, { aws: { network: { vpc: 'vpc-0a1b2c3d', subnets: SUBNETS, ...given } } }));
  const policies = (count: number) => Array.from({ length: count }, (_, index) => `${POLICY}p${index}`);

  it.each([
    { what: '16 subnets', problems: network({ subnets: ids('subnet', 16) }), allowed: true },
    { what: '17 subnets', problems: network({ subnets: ids('subnet', 17) }), allowed: false },
    { what: 'a subnet twice', problems: network({ subnets: [...SUBNETS, ...SUBNETS] }), allowed: false },
    { what: '5 security groups', problems: network({ securityGroups: ids('sg', 5) }), allowed: true },
    { what: '6 security groups', problems: network({ securityGroups: ids('sg', 6) }), allowed: false },
    {
      what: '10 policies',
      problems: problemsOf(fileWith({ taskRole: { policies: policies(10) } })),
      allowed: true,
    },
    {
      what: '11 policies',
      problems: problemsOf(fileWith({ taskRole: { policies: policies(11) } })),
      allowed: false,
    },
    {
      what: 'an address twice',
      problems: problemsOf(fileWith({}, { aws: { alarms: { emails: ['a@example.com', 'a@example.com'] } } })),
      allowed: false,
    },
    {
      what: 'a peer twice',
      problems: problemsOf(fileWith({ peers: { self: 'a', others: ['b', 'b'] } })),
      allowed: false,
    },
    { what: 'no peer', problems: problemsOf(fileWith({ peers: { self: 'a', others: [] } })), allowed: false },
    {
      what: 'itself as a peer',
      problems: problemsOf(fileWith({ peers: { self: 'a', others: ['a'] } })),
      allowed: false,
    },
  ])('may have $what: $allowed', ({ problems, allowed }) => {
    expect(problems.length === 0).toBe(allowed);
  });
});

it.each([
  { at: { pool: { max: 0 } }, says: 'pools[0].max: expected at least 1, got 0' },
  { at: { pool: { min: -1 } }, says: 'pools[0].min: expected at least 0, got -1' },
  { at: { limits: { maxTasks: 0 } }, says: 'limits.maxTasks: expected at least 1, got 0' },
  {
    at: { limits: { dollarsPerHour: 0.0009 } },
    says: 'limits.dollarsPerHour: expected at least 0.001, got 0.0009',
  },
  {
    at: { limits: { dollarsPerHour: 10_001 } },
    says: 'limits.dollarsPerHour: expected at most 10000, got 10001',
  },
  {
    at: { pool: { dollarsPerLaunch: 101 } },
    says: 'pools[0].dollarsPerLaunch: expected at most 100, got 101',
  },
  { at: { pool: { dollarsPerLaunch: -1 } }, says: 'pools[0].dollarsPerLaunch: expected at least 0, got -1' },
  { at: { waiting: { person: 1001 } }, says: 'waiting.person: expected at most 1000, got 1001' },
  { at: { waiting: { prebuild: -1 } }, says: 'waiting.prebuild: expected at least 0, got -1' },
  {
    at: { managedKeys: { token: { secret: 'm' }, rotateAfterDays: 0 } },
    says: 'managedKeys.rotateAfterDays: expected at least 1, got 0',
  },
  {
    at: { managedKeys: { token: { secret: 'm' }, rotateAfterDays: 366 } },
    says: 'managedKeys.rotateAfterDays: expected at most 365, got 366',
  },
])('has a bound: $says', ({ at: { pool = {}, ...rest }, says }: { at: { pool?: object }; says: string }) => {
  expect(problemsOf(fileWith(pool, rest))).toContain(says);
});

describe('a text that may be a secret', () => {
  const MIXED = `aB3${'x'.repeat(40)}`;
  const TOKEN = 'aB3xxxxxxx-aB3xxxxxxxxxxxxxxxxxxx';

  it.each([
    { text: MIXED, is: true, because: 'a provisioner key' },
    { text: `prefix-${MIXED}`, is: true, because: 'a key after a name' },
    { text: `${MIXED}.`, is: true, because: 'a key before a stop' },
    { text: `${MIXED}x`, is: false, because: 'one character too many' },
    { text: `x${MIXED}`, is: false, because: 'one character too many in front' },
    { text: MIXED.slice(1), is: false, because: 'one character too few' },
    { text: 'x'.repeat(43), is: false, because: 'only small letters' },
    { text: `a3${'x'.repeat(41)}`, is: false, because: 'no large letter' },
    { text: `aB${'x'.repeat(41)}`, is: false, because: 'no digit' },
    { text: `AB3${'X'.repeat(40)}`, is: false, because: 'no small letter' },
    { text: TOKEN, is: true, because: 'a token of coderd' },
    { text: `${TOKEN}x`, is: false, because: 'longer than a token' },
    { text: 'AKIAIOSFODNN7EXAMPLE', is: true, because: 'an access key id' },
    { text: 'ASIAIOSFODNN7EXAMPLE', is: true, because: 'a temporary access key id' },
    { text: 'id AKIAIOSFODNN7EXAMPLE.', is: true, because: 'an access key id in a text' },
    { text: 'AKIAIOSFODNN7EXAMPL', is: false, because: 'too short for one' },
    { text: 'XAKIAIOSFODNN7EXAMPLE', is: false, because: 'a longer word' },
    { text: 'AKIAIOSFODNN7EXAMPLES', is: false, because: 'a longer word at the end' },
    { text: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', is: true, because: 'a secret access key' },
    { text: ' wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', is: false, because: 'not alone' },
    { text: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY ', is: false, because: 'not alone at the end' },
    { text: 'wjalrxutnfemi/k7mdeng/bpxrficyexamplekey', is: false, because: 'words in small letters' },
    { text: 'a\n-----BEGIN RSA PRIVATE KEY-----', is: true, because: 'a PEM block' },
    { text: 'http://ada:x@proxy', is: true, because: 'a password in a URL' },
    { text: 'http://proxy/ada@example.com', is: true, because: 'perhaps one' },
    { text: 'http://proxy ada@example.com', is: false, because: 'an address after a URL' },
  ])('is "$text": $is, as it is $because', ({ text, is }) => {
    expect(looksLikeSecret(text)).toBe(is);
    expect(shownText(text).includes('hidden')).toBe(is);
  });

  it.each(['token', 'key', 'psk', 'proxy', 'environment', 'secrets'])('is any text in %s', (name) => {
    expect(shown('hunter2', ['pools', 0, name, 'x'])).toBe('a string');
    expect(subject('hunter2', [name])).toBe('the value');
    expect(shown(5, [name])).toBe('a number');
    expect(subject('blue', ['name'])).toBe('"blue"');
  });
});

it.each([
  { value: undefined, as: 'nothing' },
  { value: null, as: 'nothing' },
  { value: [], as: 'a list' },
  { value: {}, as: 'a mapping' },
  { value: 5, as: '5' },
  { value: true, as: 'true' },
  { value: 'x'.repeat(60), as: `"${'x'.repeat(60)}"` },
  { value: 'x '.repeat(31), as: `"${'x '.repeat(30)}…"` },
])('shows a value as $as', ({ value, as }) => {
  expect(shown(value, ['name'])).toBe(as);
});

it.each([
  { ms: 0, as: '0s' },
  { ms: 500, as: '0.5s' },
  { ms: 90_000, as: '90s' },
  { ms: 120_000, as: '2m' },
  { ms: 3_600_000, as: '1h' },
  { ms: 5_400_000, as: '90m' },
])('shows $ms ms as $as', ({ ms, as }) => {
  expect(shownDuration(ms)).toBe(as);
  if (ms >= 1000) expect(parseDuration(as)).toBe(ms);
});

const FOLLOWS = "no longer exists; write the pool's waiting.person: its other prices follow it";
const GUARDED = 'has ended; every pool has the guard. Its image needs sh and curl: docs/upgrade.md';
const NOT_MANAGED = 'unknown setting; only provisioner keys can be managed; write key: managed instead of';

it.each<{ readonly file: object; readonly says: string }>([
  {
    file: fileWith({}, { waiting: { stop: 1 } }),
    says: 'waiting.stop: no longer exists; remove it. It is a hundredth of waiting.person',
  },
  { file: fileWith({ waiting: { autostart: 1 } }), says: `pools[0].waiting.autostart: ${FOLLOWS}` },
  { file: fileWith({ waiting: { prebuild: 1 } }), says: `pools[0].waiting.prebuild: ${FOLLOWS}` },
  { file: fileWith({ waiting: { stop: 1 } }), says: `pools[0].waiting.stop: ${FOLLOWS}` },
  {
    file: fileWith({}, { coder: { ...CODER, prebuildsFailureHardLimit: 3 } }),
    says: 'coder.prebuildsFailureHardLimit: no longer exists; remove it. coderd itself tells template admins of a preset whose prebuilds fail',
  },
  {
    file: fileWith({ whenBlind: 1 }),
    says: 'pools[0].whenBlind: no longer exists; write min. min holds while the autoscaler cannot read coderd, too',
  },
  {
    file: fileWith({ prebuilds: {} }),
    says: 'pools[0].prebuilds: no longer exists; remove it. Prebuilds launch up to 4/5 of max; if only prebuilds use the pool, write a max that is a quarter higher',
  },
  {
    file: fileWith({ prewarm: {} }),
    says: 'pools[0].prewarm: no longer exists; remove it. Each scheduled start gets a daemon, up to max; with waiting.autostart: 0 one daemon serves all',
  },
  {
    file: fileWith({ schedules: [{ from: '08:00', to: '09:00', timezone: 'UTC', except: [] }] }),
    says: 'pools[0].schedules[0].except: no longer exists; remove it. On such a day the schedule keeps daemons that nobody needs, or pin the pool',
  },
  {
    file: fileWith({}, { aws: { function: { tracing: true } } }),
    says: 'aws.function.tracing: no longer exists; remove it. The log event of each look has calls and durations',
  },
  {
    file: fileWith({}, { aws: { function: { reservedConcurrency: true } } }),
    says: 'aws.function.reservedConcurrency: no longer exists; remove it. Looks may overlap',
  },
  {
    file: fileWith({ spotBase: 1 }),
    says: 'pools[0].spotBase: no longer exists; write capacity: [spot, on-demand], which fails over, or make two pools',
  },
  {
    file: fileWith({ prometheusPort: 1 }),
    says: 'pools[0].prometheusPort: no longer exists; write environment: { CODER_PROMETHEUS_ENABLE: "true", CODER_PROMETHEUS_ADDRESS: "0.0.0.0:2112" }',
  },
  {
    file: fileWith({ readonlyRootFilesystem: true }),
    says: 'pools[0].readonlyRootFilesystem: no longer exists; remove it. The container does not run as root: it can write the same folders',
  },
  {
    file: fileWith({ taskRole: { statements: [] } }),
    says: 'pools[0].taskRole.statements: no longer exists; write policies, with the ARN of a managed policy that has these statements',
  },
  {
    file: fileWith({}, { aws: { dashboard: true } }),
    says: 'aws.dashboard: no longer exists; remove it. autoscaler watch shows the deployment, and metrics and saved queries its past',
  },
  {
    file: fileWith({ key: { managed: true } }),
    says: 'pools[0].key.managed: unknown setting; for a key that the stack creates and rotates, write key: managed',
  },
  {
    file: fileWith({ key: { key: 'x' } }),
    says: 'pools[0].key.key: unknown setting; store the key in AWS Secrets Manager and write secret: <its name or ARN>',
  },
  { file: fileWith({ psk: { managed: true } }), says: `pools[0].psk.managed: ${NOT_MANAGED} psk` },
  { file: fileWith({ token: { managed: true } }), says: `pools[0].token.managed: ${NOT_MANAGED} token` },
  { file: fileWith({ scaleIn: 'confirm' }), says: `pools[0].scaleIn: confirm ${GUARDED}` },
  { file: fileWith({ scaleIn: 'never' }), says: `pools[0].scaleIn: never ${GUARDED}` },
  ...['on', 'yes', true].map((warm) => ({ file: fileWith({ warm }), says: '; write auto' })),
  ...['off', 'no', 'none', false].map((warm) => ({ file: fileWith({ warm }), says: '; write 0' })),
  { file: fileWith({ key: 'auto' }), says: '; write managed' },
  { file: fileWith({ key: true }), says: '; write managed' },
  {
    file: fileWith({ min: 'auto' }),
    says: '; remove min; it is then 0 if wake is on and the autoscaler can read the forecast, otherwise 1',
  },
  {
    file: fileWith({ wake: {} }),
    says: '; write true, or false to start for jobs only. Stops and deletions may be 10 minutes late',
  },
])('tells what to write instead: $says', ({ file, says }) => {
  const found = problemsOf(file).filter((line) =>
    says.startsWith(';') ? line.endsWith(says) : line === says,
  );
  expect(found).toHaveLength(1);
});
