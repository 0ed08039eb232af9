import { describe, expect, it } from 'vitest';
import { shownText } from '../../lambda/config/problems/shown.ts';
import { readConfig } from '../../lambda/config/read.ts';
import { poolSchema } from '../../lambda/config/schema/schema.ts';
import { decodeUtf8 } from '../../lambda/config/utf8.ts';
import { problemsIn } from './written.ts';

const FILE = 'autoscaler.yaml';
const problemsOf = (text: string) => problemsIn(text, FILE);

const HEAD = `coder:
  url: https://coder.example.com
  token: { secret: coder/token }
`;

/** Four lines, so that a pool's own settings begin at line 8. */
const withPool = (settings: string) => `${HEAD}pools:
  - name: gpu
    organization: default
    key: { secret: coder/keys/gpu }
${settings}`;

const POOL_SETTINGS = `allowed: ${Object.keys(poolSchema.shape).join(', ')}`;

/** A test that the file has these problems, each with its line and column. */
it.each([
  { text: 'a'.repeat(61), shows: `"${'a'.repeat(60)}…"` },
  { text: 'A'.repeat(43), shows: `"${'A'.repeat(43)}"` },
])('shows $text as $shows', ({ text, shows }) => {
  expect(shownText(text)).toBe(shows);
});

function reports(mistake: string, text: string, says: readonly string[]): void {
  it(`reports the place and the problem: ${mistake}`, () => {
    expect(problemsOf(text)).toEqual(says.map((line) => `${FILE}:${line}`));
  });
}

describe('the whole file', () => {
  reports('an empty file', '', ['1:1: the configuration is empty; start with "coder:" and "pools:"']);
  reports('only comments', '# to do\n', [
    '1:1: the configuration is empty; start with "coder:" and "pools:"',
  ]);
  reports('a list', '- name: gpu\n', [
    '1:1: expected a mapping, got a list; start with "coder:" and "pools:"',
  ]);
  reports('settings without values', 'coder:\npools:\n', [
    '1:1: coder: no value; how the autoscaler reaches coderd; for example: { url: https://coder.example.com, token: { secret: coder/autoscaler-token } }',
    '2:1: pools: no value; the pools, at least one. Each is one ECS service; for example: [ { name: default, organization: default, key: { secret: coder/keys/default } } ]',
  ]);
  reports('a tab as indentation', 'coder:\n\turl: https://coder.example.com\n', [
    '2:1: the line is indented with a tab; use two spaces for each level',
  ]);
  reports('a quote that is not closed', 'coder:\n  url: "https://coder.example.com\n', [
    '3:1: not valid YAML: a quote is not closed; close it',
  ]);
  reports('one colon too many', 'coder:\n  url: host: 1\n', [
    '2:8: not valid YAML: the line has a second "name: value"; begin a new line, or put the value in quotes',
  ]);
  reports('an indentation that matches no level', 'coder:\n    url: x\n  token: y\n', [
    '3:1: not valid YAML: all mapping items must start at the same column; check indentation, quotes and colons here',
  ]);
  reports('a list that turns into a mapping, reported once', '- gpu\npassword: hunter2\n', [
    '2:1: not valid YAML: unexpected scalar at node end; check indentation, quotes and colons here',
  ]);
  reports('a value that begins with a reserved character', 'coder:\n  url: @host\n', [
    '2:8: not valid YAML: plain value cannot start with reserved character @; put the value in quotes',
  ]);
  reports(
    'YAML tags of CloudFormation, each of them',
    'coder:\n  token: { secret: !Ref A }\n  url: !Ref B\n',
    [
      '2:20: YAML tags such as !Ref of CloudFormation are not supported; write the value itself',
      '3:8: YAML tags such as !Ref of CloudFormation are not supported; write the value itself',
    ],
  );
  reports(
    'a syntax error and what the parser guesses after it, as the first error only',
    'coder: "x" y\npools: {c\nlimits: - e\n',
    ['1:12: not valid YAML: unexpected scalar at node end; check indentation, quotes and colons here'],
  );
  reports('two documents', 'a: 1\n---\nb: 1\n', [
    '2:1: the file has a second YAML document ("---"); keep only one',
  ]);
  reports('an alias without an anchor', 'pools: *gpu\n', [
    '1:8: the alias "*gpu" has no anchor before it; define the anchor with "&" and this name',
  ]);
  reports('an alias of itself', 'pools: &gpu\n  - *gpu\n', [
    '2:5: the alias "*gpu" refers to itself; write the settings without the alias',
  ]);
  reports(
    'nested aliases that expand without limit',
    `a: &a [${'x,'.repeat(20)}]\nb: &b [${'*a,'.repeat(20)}]\nc: [${'*b,'.repeat(20)}]\n`,
    ['1:1: too many nested aliases; write the settings without aliases'],
  );
});

describe('names', () => {
  reports('a typo', withPool('    idelTimeout: 5m\n'), [
    `8:5: pools[0].idelTimeout: unknown setting; did you mean "idleTimeout"? ${POOL_SETTINGS}`,
  ]);
  reports('two letters in the wrong order', withPool('    wram: 2\n    mni: 1\n'), [
    `8:5: pools[0].wram: unknown setting; did you mean "warm"? ${POOL_SETTINGS}`,
    `9:5: pools[0].mni: unknown setting; did you mean "min"? ${POOL_SETTINGS}`,
  ]);
  reports('another spelling of a setting, without a value', withPool('    idle_timeout:\n'), [
    `8:5: pools[0].idle_timeout: unknown setting; did you mean "idleTimeout"? ${POOL_SETTINGS}`,
  ]);
  reports('a short form', withPool('    env: { A: b }\n'), [
    `8:5: pools[0].env: unknown setting; did you mean "environment"? ${POOL_SETTINGS}`,
  ]);
  reports('a setting of another level', `${withPool('    maxTasks: 3\n')}min: 1\ncpu: 1024\n`, [
    `8:5: pools[0].maxTasks: unknown setting; "maxTasks" belongs in limits; ${POOL_SETTINGS}`,
    '9:1: min: unknown setting; "min" belongs in pools[] or pools[].schedules[]; allowed: coder, limits, looks, roll, waiting, alertAfter, defaults, managedKeys, pools, aws',
    '10:1: cpu: unknown setting; "cpu" belongs in defaults or pools[]; allowed: coder, limits, looks, roll, waiting, alertAfter, defaults, managedKeys, pools, aws',
  ]);
  reports(
    'a setting that is similar to one here and exists elsewhere',
    `${withPool('')}limits: { max: 3 }\n`,
    [
      '8:11: limits.max: unknown setting; did you mean "maxTasks"? "max" belongs in pools[]; allowed: maxTasks, dollarsPerHour',
    ],
  );
  reports('a name that is similar to no setting', withPool('    colour: blue\n    constructor: x\n'), [
    `8:5: pools[0].colour: unknown setting; ${POOL_SETTINGS}`,
    `9:5: pools[0].constructor: unknown setting; ${POOL_SETTINGS}`,
  ]);
  reports('a setting that is written twice', withPool('    max: 3\n    max: 4\n'), [
    '9:5: pools[0].max: this setting is written twice; keep one of them',
  ]);
  reports(
    'two pools with the same name',
    `${withPool('    tags: { gpu: "true" }\n')}  - name: gpu
    organization: data
    key: { secret: coder/keys/data }
`,
    ['9:5: pools[1].name: "gpu" is already the name of pools[0]; give each pool its own name'],
  );
  reports(
    'two pools with the same organization and tags, in another order',
    `${withPool('    tags: { a: "1", b: "2" }\n')}  - name: other
    organization: default
    tags: { b: "2", a: "1" }
    key: { secret: coder/keys/other }
`,
    [
      '11:5: pools[1]: has the same organization and tags as pools[0] "gpu"; merge them into one pool with a higher max, or give one of them another tag',
    ],
  );
  reports(
    'another pool with the tags of a pool without a name',
    `${HEAD}pools:
  - organization: default
    key: { secret: coder/keys/gpu }
  - name: other
    organization: default
    key: { secret: coder/keys/other }
`,
    [
      '5:5: pools[0].name: missing; unique name of the pool, at most 30 characters. Its daemons are named `<name>-<task id>`; for example: default',
      '8:5: pools[1]: has the same organization and tags as pools[0]; merge them into one pool with a higher max, or give one of them another tag',
    ],
  );
  reports(
    'two untagged pools',
    `${withPool('    tags:\n')}  - name: other
    organization: default
    key: { secret: coder/keys/other }
`,
    [
      '10:5: pools[1]: has the same organization and tags as pools[0] "gpu"; merge them into one pool with a higher max, or give one of them another tag',
    ],
  );
  reports(
    'wrong names of pools and organizations',
    `${HEAD}pools:
  - name: GPU_pool
    organization: Data Platform
    key: { secret: k }
  - name: a-name-that-is-too-long-by-one-
    organization: default
    key: { secret: k }
`,
    [
      '5:5: pools[0].name: "GPU_pool" is not a pool name; use at most 30 lower-case letters, digits and hyphens, and do not begin with a hyphen',
      '6:5: pools[0].organization: "Data Platform" is not an organization; write its UUID, or its name as in the URL of its page (not the display name)',
      '8:5: pools[1].name: "a-name-that-is-too-long-by-one-" is not a pool name; use at most 30 lower-case letters, digits and hyphens, and do not begin with a hyphen',
    ],
  );
});

describe('values', () => {
  reports('missing settings', 'coder: {}\npools:\n  - name: gpu\n', [
    '1:1: coder.url: missing; URL of coderd, without a path. It must be https, or http for loopback hosts only; for example: https://coder.example.com',
    '1:1: coder.token: missing; secret that holds the API token for reading jobs, daemons, workspaces and templates. Its user needs the role organization template admin in every organization named below; for example: { secret: coder/autoscaler-token }',
    '3:5: pools[0].organization: missing; name or UUID of the coderd organization that the provisioner key belongs to; for example: default',
    '3:5: pools[0].key: missing; write the secret that holds the provisioner key, such as { secret: coder/keys/default }, or "managed". To use a pre-shared key or the token of a user, write psk or token instead',
  ]);
  reports(
    'settings that have ended',
    withPool(
      '    waiting: { stop: 1 }\n    whenBlind: { floor: 1 }\n    prewarm: { max: 5 }\n    prebuilds: { maxTasks: 5 }\n    spotBase: 1\n    schedules: [{ from: 08:00, to: 09:00, timezone: UTC, warm: 1, except: [2026-12-25] }]\n    prometheusPort: 2112\n    readonlyRootFilesystem: true\n    taskRole: { statements: [] }\n    wake: { maxDelay: 5m }\naws: { function: { tracing: true, reservedConcurrency: 3 } }\n',
    ).replace('coder:\n', 'coder:\n  prebuildsFailureHardLimit: 3\n'),
    [
      '2:3: coder.prebuildsFailureHardLimit: no longer exists; remove it. coderd itself tells template admins of a preset whose prebuilds fail',
      "9:16: pools[0].waiting.stop: no longer exists; write the pool's waiting.person: its other prices follow it",
      '10:5: pools[0].whenBlind: no longer exists; write min. min holds while the autoscaler cannot read coderd, too',
      '11:5: pools[0].prewarm: no longer exists; remove it. Each scheduled start gets a daemon, up to max; with waiting.autostart: 0 one daemon serves all',
      '12:5: pools[0].prebuilds: no longer exists; remove it. Prebuilds launch up to 4/5 of max; if only prebuilds use the pool, write a max that is a quarter higher',
      '13:5: pools[0].spotBase: no longer exists; write capacity: [spot, on-demand], which fails over, or make two pools',
      '14:67: pools[0].schedules[0].except: no longer exists; remove it. On such a day the schedule keeps daemons that nobody needs, or pin the pool',
      '15:5: pools[0].prometheusPort: no longer exists; write environment: { CODER_PROMETHEUS_ENABLE: "true", CODER_PROMETHEUS_ADDRESS: "0.0.0.0:2112" }',
      '16:5: pools[0].readonlyRootFilesystem: no longer exists; remove it. The container does not run as root: it can write the same folders',
      '17:17: pools[0].taskRole.statements: no longer exists; write policies, with the ARN of a managed policy that has these statements',
      '18:5: pools[0].wake: expected true or false, got a mapping; write true, or false to start for jobs only. Stops and deletions may be 10 minutes late',
      '19:20: aws.function.tracing: no longer exists; remove it. The log event of each look has calls and durations',
      '19:35: aws.function.reservedConcurrency: no longer exists; remove it. Looks may overlap',
    ],
  );
  reports('no pools', `${HEAD}pools: []\n`, [
    '4:1: pools: the list is empty; write at least one entry; for example: [ { name: default, organization: default, key: { secret: coder/keys/default } } ]',
  ]);
  reports('an empty entry of pools', `${withPool('')}  -\n`, [
    '8:4: pools[1]: expected a mapping, got nothing; for example: { name: default, organization: default, key: { secret: coder/keys/default } }',
  ]);
  reports(
    'tags that are not strings',
    withPool('    tags:\n      gpu: true\n      zone: 1.10\n      team:\n'),
    [
      '9:7: pools[0].tags.gpu: expected a string, got true; put it in quotes',
      '10:7: pools[0].tags.zone: expected a string, got 1.10; put it in quotes',
      '11:7: pools[0].tags.team: no value; write one',
    ],
  );
  reports('a list of tags', withPool('    tags: [gpu]\n'), [
    '8:5: pools[0].tags: expected a mapping, got a list; for example: { gpu: "true" }',
  ]);
  reports('tags that coderd sets', withPool('    tags: { scope: user, owner: "" }\n'), [
    '8:13: pools[0].tags.scope: "scope" cannot be set in a pool with key: coderd sets this tag, because a provisioner key is always organization-scoped; remove it',
    '8:26: pools[0].tags.owner: "owner" cannot be set in a pool with key: coderd sets this tag, because a provisioner key is always organization-scoped; remove it',
  ]);
  reports(
    'durations without a unit, with two units or out of range',
    `looks: { every: 2m }\n${withPool('    idleTimeout: 300\n')}  - name: b
    organization: data
    key: { secret: k }
    idleTimeout: 1h30m
`,
    [
      '1:10: looks.every: "2m" is out of range; allowed: 1s to 1m',
      '9:5: pools[0].idleTimeout: expected a duration, got 300; write a whole number and a unit (s, m or h), such as 90s, 5m or 1h',
      '13:5: pools[1].idleTimeout: "1h30m" is not a duration; write a whole number and a unit (s, m or h), such as 90s, 5m or 1h',
    ],
  );
  reports(
    'counts that are not valid numbers',
    `limits: { maxTasks: 0 }\n${withPool('    min: 1.5\n    max: 0\n    warm: -1\n')}`,
    [
      '1:11: limits.maxTasks: expected at least 1, got 0',
      '9:5: pools[0].min: expected a whole number, got 1.5',
      '10:5: pools[0].max: expected at least 1, got 0',
      '11:5: pools[0].warm: expected at least 0, got -1',
    ],
  );
  reports('counts as words or in quotes', withPool('    min: "1"\n    max: many\n    warm: .nan\n'), [
    '8:5: pools[0].min: expected a whole number, got "1"; remove the quotes',
    '9:5: pools[0].max: expected a whole number, got "many"',
    '10:5: pools[0].warm: expected auto or a whole number, got .nan',
  ]);
  reports('min and warm above max', withPool('    min: 5\n    warm: 4\n    max: 3\n'), [
    '8:5: pools[0].min: min 5 is above max 3; lower min or raise max',
    '9:5: pools[0].warm: warm 4 is above max 3; lower warm or raise max',
  ]);
  reports(
    'the sum of min above maxTasks',
    `limits: { maxTasks: 5 }\n${withPool('    min: 5\n')}  - name: b
    organization: data
    key: { secret: k }
    min: 1
`,
    ["1:11: limits.maxTasks: the pools' min add up to 6, above maxTasks 5; raise maxTasks or lower min"],
  );
  reports(
    'nothing if a pool whose wake is on has no min',
    `limits: { maxTasks: 5 }\n${withPool('    min: 5\n')}  - name: b
    organization: data
    key: { secret: k }
`,
    [],
  );
  reports(
    'the sum of min above maxTasks, with a pool without min whose wake is off',
    `limits: { maxTasks: 5 }\n${withPool('    min: 5\n')}  - name: b
    organization: data
    key: { secret: k }
    wake: false
`,
    [
      "1:11: limits.maxTasks: the pools' min add up to 6 (a pool whose wake is off counts as 1 if its min is not set), above maxTasks 5; raise maxTasks or lower min",
    ],
  );
  reports(
    'words that warm and min do not accept',
    `${withPool('    warm: on\n    min: auto\n')}  - name: b
    organization: data
    key: { secret: k }
    warm: false
`,
    [
      '8:5: pools[0].warm: expected auto or a whole number, got "on"; write auto',
      '9:5: pools[0].min: expected a whole number, got "auto"; remove min; it is then 0 if wake is on and the autoscaler can read the forecast, otherwise 1',
      '13:5: pools[1].warm: expected auto or a whole number, got false; write 0',
    ],
  );
  reports(
    'warm in quotes and warm as a fraction',
    `${withPool('    warm: "5"\n')}  - name: b
    organization: data
    key: { secret: k }
    warm: 1.5
`,
    [
      '8:5: pools[0].warm: expected auto or a whole number, got "5"; remove the quotes',
      '12:5: pools[1].warm: expected auto or a whole number, got 1.5',
    ],
  );
  reports(
    'prices that are not valid amounts',
    `waiting: { person: -0.1, autostart: "$0.10", prebuild: 1001 }\n${withPool('    waiting: { person: "0.5" }\n    dollarsPerLaunch: -1\n')}limits: { dollarsPerHour: 0 }\n`,
    [
      '1:12: waiting.person: expected at least 0, got -0.1',
      '1:26: waiting.autostart: expected a number of dollars, got "$0.10"; write the number alone: 0.10',
      '1:46: waiting.prebuild: expected at most 1000, got 1001',
      '9:16: pools[0].waiting.person: expected a number of dollars, got "0.5"; remove the quotes',
      '10:5: pools[0].dollarsPerLaunch: expected at least 0, got -1',
      '11:11: limits.dollarsPerHour: expected at least 0.001, got 0',
    ],
  );
  reports('one price instead of a mapping of prices', `waiting: 0.1\n${withPool('')}`, [
    '1:1: waiting: expected a mapping, got 0.1; for example: { person: 1 }',
  ]);
  reports(
    'dollarsPerHour below the price of one task',
    `limits: { dollarsPerHour: 0.1 }\n${withPool('')}  - name: large
    organization: data
    key: { secret: k }
    cpu: 4096
    memory: 8192
`,
    [
      '1:11: limits.dollarsPerHour: one task of pool "large" costs $0.1580 an hour, above dollarsPerHour 0.1, so the pool could never launch a task; raise dollarsPerHour or make its tasks smaller',
    ],
  );
  reports(
    'dollarsPerHour below the price of the min tasks',
    `limits: { dollarsPerHour: 0.1 }\n${withPool('    min: 2\n')}  - name: b
    organization: data
    key: { secret: k }
    wake: false
`,
    [
      '1:11: limits.dollarsPerHour: the min tasks of all pools cost $0.1185 an hour, above dollarsPerHour 0.1; raise dollarsPerHour or lower min',
    ],
  );
  reports('values that are not true or false', withPool('    spot: "true"\n    wake: no\n'), [
    '8:5: pools[0].spot: expected true or false, got "true"; remove the quotes',
    '9:5: pools[0].wake: expected true or false, got "no"',
  ]);
  reports(
    'a percentage without a sign, and an unknown scaleIn',
    `roll: { atOnce: 25 }\n${withPool('    scaleIn: leases\n')}`,
    [
      '1:9: roll.atOnce: expected a percentage, got 25; for example: 25%',
      '9:5: pools[0].scaleIn: expected one of lease, got "leases"; did you mean "lease"?',
    ],
  );
  reports('a percentage of 0', `roll: { atOnce: 0% }\n${withPool('')}`, [
    '1:9: roll.atOnce: "0%" is not a percentage; write 1% to 100%',
  ]);
  reports(
    'environment names that are invalid, reserved or refused by coder',
    withPool(
      '    environment: { 1A: x, CODER_URL: x, CODER_ORGANIZATION: x, PORT: 80, A: x }\n    secrets: { A: { secret: a } }\n',
    ),
    [
      '8:20: pools[0].environment.1A: "1A" is not the name of an environment variable; use letters, digits and _, and do not begin with a digit',
      '8:27: pools[0].environment.CODER_URL: "CODER_URL" is a variable that the autoscaler sets itself; remove it',
      '8:41: pools[0].environment.CODER_ORGANIZATION: "CODER_ORGANIZATION" cannot be used with a provisioner key: coder refuses to start, because the key already fixes organization and tags; remove it',
      '8:64: pools[0].environment.PORT: expected a string, got a number; put it in quotes',
    ],
  );
  reports('a variable without a value', withPool('    environment: { A: }\n'), [
    '8:20: pools[0].environment.A: no value; write "" for an empty string',
  ]);
  reports(
    'a name in both environment and secrets',
    withPool('    environment: { A: x }\n    secrets: { A: { secret: a } }\n'),
    ['9:16: pools[0].secrets.A: "A" is also in environment; keep one of them'],
  );
  reports(
    'invalid references to secrets',
    `coder:
  url: https://coder.example.com
  token: coder/token
pools:
  - name: gpu
    organization: default
    key: { secret: "" }
    secrets:
      A: { secret: "arn:aws:ssm:eu-central-1:123456789012:parameter/x" }
      B: { secret: "two words" }
      C: { value: x }
`,
    [
      '3:3: coder.token: expected a mapping, got a string; for example: { secret: coder/autoscaler-token }',
      '7:12: pools[0].key.secret: the value is not the name or ARN of a secret in AWS Secrets Manager',
      '9:12: pools[0].secrets.A.secret: the value is not the name or ARN of a secret in AWS Secrets Manager',
      '10:12: pools[0].secrets.B.secret: the value is not the name or ARN of a secret in AWS Secrets Manager',
      '11:7: pools[0].secrets.C.secret: missing; name or ARN of a secret in AWS Secrets Manager',
      '11:12: pools[0].secrets.C.value: unknown setting; allowed: secret, jsonKey',
    ],
  );
  reports(
    'a URL without https',
    withPool('').replace('https://coder.example.com', 'http://coder.example.com/'),
    [
      '2:3: coder.url: "http://coder.example.com/" is plain http, which would send the API token unencrypted; write https://coder.example.com (http is allowed for loopback hosts only)',
    ],
  );
  reports('a URL without a scheme', withPool('').replace('https://', ''), [
    '2:3: coder.url: "coder.example.com" is not an absolute http or https URL; write https://coder.example.com',
  ]);
});

describe('sizes', () => {
  reports(
    'memory that Fargate does not support with the cpu',
    withPool('    cpu: 4096\n    memory: 1024\n'),
    [
      '9:5: pools[0].memory: Fargate has no task with cpu 4096 and memory 1024; cpu 4096 goes with memory 8192 to 30720 in steps of 1024; memory 1024 goes with cpu 256, 512',
    ],
  );
  reports("a cpu that Fargate does not support with the defaults' memory", withPool('    cpu: 4096\n'), [
    '8:5: pools[0].cpu: Fargate has no task with cpu 4096 and memory 2048; cpu 4096 goes with memory 8192 to 30720 in steps of 1024; memory 2048 goes with cpu 256, 512, 1024',
  ]);
  reports(
    'an unsupported size in defaults, reported once for all pools',
    `defaults: { cpu: 256, memory: 4096 }\n${withPool('')}  - name: b
    organization: data
    key: { secret: k }
`,
    [
      '1:23: defaults.memory: Fargate has no task with cpu 256 and memory 4096; cpu 256 goes with memory 512, 1024, 2048; memory 4096 goes with cpu 512, 1024, 2048',
    ],
  );
  reports(
    'sizes counted in vCPU and GB',
    `defaults: { cpu: 2 }\n${withPool('    cpu: 512\n    memory: 4\n')}`,
    [
      '1:13: defaults.cpu: expected one of 256, 512, 1024, 2048, 4096, 8192, 16384, got 2; 2 vCPU is 2048',
      '10:5: pools[0].memory: Fargate has no task with cpu 512 and memory 4; cpu 512 goes with memory 1024, 2048, 3072, 4096; 4 GB is 4096',
    ],
  );
  reports('an architecture by another name', withPool('    architecture: amd64\n    cpu: "512"\n'), [
    '8:5: pools[0].architecture: expected arm64 or x86_64, got "amd64"; did you mean "x86_64"?',
    '9:5: pools[0].cpu: expected one of 256, 512, 1024, 2048, 4096, 8192, 16384, got "512"; remove the quotes',
  ]);
});

it('writes one line for each problem into the message of the error', () => {
  const act = () => readConfig(withPool('    max: 0\n    warm: x\n'), FILE);
  expect(act).toThrow(
    `${FILE}:8:5: pools[0].max: expected at least 1, got 0\n${FILE}:9:5: pools[0].warm: expected auto or a whole number, got "x"`,
  );
});

it('reports a pair of a default and a written value at the written value', () => {
  expect(
    problemsOf(`defaults: { cpu: 256, memory: 512 }\n${withPool('    cpu: 8192\n    memory: 16384\n')}`),
  ).toEqual([]);
  expect(problemsOf(`defaults: { cpu: 8192 }\n${withPool('')}`)[0]).toMatch(
    /:1:13: defaults\.cpu: Fargate has no/,
  );
});

it('supports aliases and merge keys, and reports a mistake where it is written', () => {
  const text = `${HEAD}pools:
  - &base { name: a, organization: default, key: { secret: k }, max: 3 }
  - { <<: *base, name: b, tags: &tags { gpu: "true" }, key: { secret: l } }
  - { <<: *base, name: c, organization: data, tags: *tags, key: { secret: m }, max: 7 }
`;
  const { config } = readConfig(text, FILE);
  expect(config.pools.map(({ name, max, tags }) => ({ name, max, tags }))).toEqual([
    { name: 'a', max: 3, tags: {} },
    { name: 'b', max: 3, tags: { gpu: 'true' } },
    { name: 'c', max: 7, tags: { gpu: 'true' } },
  ]);
  expect(problemsOf(text.replace('"true"', 'true')).map((line) => line.split(': ')[0])).toEqual([
    `${FILE}:6:41`,
    `${FILE}:6:41`,
  ]);
});

it('never repeats the value of a line with a syntax error', () => {
  for (const text of [
    'key: "S3cr3t',
    '- a\nS3cr3t: S3cr3t',
    'key: |S3cr3t\n',
    'a: b: S3cr3t',
    'a: [S3cr3t: , {S3cr3t',
    'a: "x"S3cr3t',
  ]) {
    expect(problemsOf(text).join('\n')).not.toContain('S3cr3t');
  }
});

it.each([
  { bytes: [0xff], line: 1 },
  { bytes: [10, 0xff], line: 2 },
  { bytes: [97, 10, 10, 0xff, 10, 97], line: 3 },
  { bytes: [0xff, 10, 0xff], line: 1 },
])('names line $line of $bytes as the first that is not UTF-8', ({ bytes, line }) => {
  expect(decodeUtf8(Uint8Array.from(bytes))).toMatchObject({
    problem: expect.stringContaining(`(line ${line})`),
  });
});
