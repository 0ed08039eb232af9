/** Every setting of autoscaler.yaml: the one schema for CLI, CDK, Lambda, the JSON Schema and the table in docs/settings.md. */
import * as z from 'zod';
import type { PoolName } from '../../decision/model/brands.ts';
import { aws } from './aws-schema.ts';
import { coder } from './coder-schema.ts';
import { duration } from './durations.ts';
import { FARGATE_CPUS, FARGATE_MEMORY } from './fargate-sizes.ts';
import { poolDeployment } from './pool-deployment-schema.ts';
import { schedules } from './schedules.ts';
import { secretRef } from './secret-ref.ts';
import { dollars, poolWaiting, waiting } from './waiting-schema.ts';

// A refusal is the end of a sentence whose subject is the value; `explainIssues` puts the two together.

/** From the price of the smallest task to that of some 100,000 tasks. */
const DOLLARS_PER_HOUR = { least: 0.001, most: 10_000 };

const limits = z
  .strictObject({
    maxTasks: z
      .int()
      .min(1)
      .default(100)
      .meta({ description: 'The most tasks over all pools together, draining ones included.' }),
    dollarsPerHour: dollars(
      'The most that all tasks together may cost an hour, at the prices of us-east-1. Draining tasks count.',
      DOLLARS_PER_HOUR,
    )
      .meta({ examples: [5] })
      .optional(),
  })
  .prefault({})
  .meta({ description: 'Bounds over all pools.' });

const looks = z
  .strictObject({
    every: duration({ fromMs: 1000, toMs: 60_000 }).prefault('10s').meta({
      description:
        'Time between looks while anything is pending, due, starting or leaving: `1s` to `60s`. When all is quiet: one look a minute.',
    }),
  })
  .prefault({})
  .meta({ description: 'How often to look.' });

/** The title by which readers of the JSON Schema know a share: written as a percentage, read as a number of percent. */
export const SHARE_TITLE = 'share';

const roll = z
  .strictObject({
    atOnce: z
      .string()
      .regex(/^(?:100|[1-9]\d?)%$/, 'is not a share; write a percentage, 1% to 100%')
      .prefault('25%')
      .meta({
        description:
          "The share of a pool's tasks that is replaced at a time after a deployment, at least one task.",
        title: SHARE_TITLE,
        examples: ['25%'],
      })
      .transform((text) => Number.parseInt(text, 10)),
  })
  .prefault({})
  .meta({ description: 'How tasks of old revisions are replaced.' });

const image = z
  .string()
  .regex(
    /^(?!https?:)\S+$/,
    'is not the name of a container image; it looks like ghcr.io/coder/coder:v2.29.19',
  )
  .meta({
    description:
      "Container image with coder. Prefer coderd's own version. coderd accepts older ones, and refuses those with a newer daemon API. coderd 2.29 or newer accepts the default.",
  });
const cpu = z.literal(FARGATE_CPUS).meta({ description: 'CPU units of a task; 1024 = 1 vCPU.' });
// which memory goes with which cpu is a rule over both
const memory = z.int().meta({
  description: 'MiB of a task; 1024 = 1 GB. Fargate has certain pairs of cpu and memory only.',
  minimum: FARGATE_MEMORY.min,
  maximum: FARGATE_MEMORY.max,
});
const architecture = z
  .enum(['arm64', 'x86_64'])
  .meta({ description: 'CPU architecture; the image must have it.' });

const spot = z.boolean().meta({
  description:
    'Fargate Spot: up to 70 % cheaper, and AWS takes tasks back with two minutes’ notice, builds and all. For prebuilds, say.',
});

const defaults = z
  .strictObject({
    image: image.default('ghcr.io/coder/coder:v2.29.19'),
    cpu: cpu.default(1024),
    memory: memory.default(2048),
    architecture: architecture.default('arm64'),
    spot: spot.default(false),
  })
  .prefault({})
  .meta({ description: 'What pools have that do not say otherwise.' });

const TAGS_OF_CODER = ['scope', 'owner'];
// docs/coder.md §3: a key cannot be user-scoped, and coderd itself sets both tags for a keyed daemon
const tagName = z
  .string()
  .refine(
    (name) => !TAGS_OF_CODER.includes(name),
    'is not for a pool: a provisioner key is always organization-scoped, and coderd sets this tag; remove it',
  )
  .regex(/./s, 'is not a tag; give it a name')
  .meta({ not: { enum: TAGS_OF_CODER } });

const SET_BY_US = [
  'CODER_URL',
  'CODER_PROVISIONER_DAEMON_KEY',
  'CODER_PROVISIONER_DAEMON_NAME',
  'AUTOSCALER_POOL',
  'AUTOSCALER_CA_BUNDLE',
];
// docs/coder.md §5: `coder provisioner start` refuses each of these beside a key, so no daemon would start
const REFUSED_WITH_KEY = ['CODER_PROVISIONERD_TAGS', 'CODER_PROVISIONER_DAEMON_PSK', 'CODER_ORGANIZATION'];
const variableName = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    'is not the name of an environment variable; use letters, digits and _, no digit first',
  )
  .refine((name) => !SET_BY_US.includes(name), 'is set by the autoscaler itself; remove it')
  .refine((name) => !name.startsWith('AUTOSCALER_TEST_'), 'is for tests of the guard alone; remove it')
  .refine(
    (name) => !REFUSED_WITH_KEY.includes(name),
    'is refused by coder beside a provisioner key (the key brings organization and tags); remove it',
  )
  .meta({ not: { enum: [...SET_BY_US, ...REFUSED_WITH_KEY] } });

const count = (description: string) => z.int().min(0).meta({ description });

// docs/coder.md §10: without a daemon that it has seen, coderd creates none of these jobs
const wake = z
  .strictObject({
    autostart: z
      .boolean()
      .default(true)
      .meta({ description: 'Have a daemon up when coderd is to start workspaces by their schedules.' }),
    autostop: z.boolean().default(true).meta({
      description:
        'Have a daemon up when coderd is to stop workspaces at their deadline, to clean up after failed builds, to make workspaces dormant or to delete them.',
    }),
    maxDelay: duration({ fromMs: 180_000, toMs: 3_600_000 }).prefault('10m').meta({
      description: 'How late any of that may be: `3m` to `1h`.',
    }),
  })
  .prefault({})
  .meta({
    description: 'What the pool is woken for, although no job shows it while no daemon is up.',
    examples: [{ autostart: false, autostop: true }],
  });

const prewarm = z
  .strictObject({
    max: count(
      'The most daemons that are ready when jobs are due that `wake` foresees. With 0: one, which coderd must see.',
    ).optional(),
  })
  .prefault({})
  .meta({ description: 'How much is made ready for what will be due at once.', examples: [{ max: 20 }] });

const prebuilds = z
  .strictObject({
    maxTasks: count(
      'Launches for prebuilds stop at this number of tasks; the rest of `max` is for people. A pool that only prebuilds use needs no such rest: write its `max`.',
    ).optional(),
  })
  .prefault({})
  .meta({ description: 'Bounds for jobs of prebuilt workspaces.', examples: [{ maxTasks: 10 }] });

const whenBlind = z
  .strictObject({
    floor: count('Tasks kept while coderd cannot be read, at least.').default(0),
  })
  .prefault({})
  .meta({ description: 'What to do while coderd cannot be read.', examples: [{ floor: 1 }] });

/** Higher prices are mistakes: that is an image of 2 TB. */
const DOLLARS_PER_LAUNCH = { most: 100 };

const EXAMPLE_POOL = { name: 'default', organization: 'default', key: { secret: 'coder/keys/default' } };

/** One entry of `pools`. What it leaves out of image, cpu, memory and architecture comes from `defaults`. */
export const poolSchema = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]{0,29}$/,
      'is not a pool name; use lower-case letters, digits and hyphens, no hyphen first, at most 30 characters',
    )
    .meta({
      description: 'Name of the pool, unique; daemons are named `<name>-<task id>`. At most 30 characters.',
      examples: ['default'],
    })
    .transform((name) => name as PoolName),
  organization: z
    .string()
    .regex(
      /^[^\s/]+$/,
      'is not an organization; write its name as in the URL of its page (not its display name), or its UUID',
    )
    .meta({
      description: 'Name or UUID of the coderd organization that the key belongs to.',
      examples: ['default'],
    }),
  tags: z
    .record(tagName, z.string())
    .prefault({})
    .meta({
      description:
        'The tags of the provisioner key. A job runs here if all its tags are among these; without tags: untagged jobs only.',
      examples: [{ gpu: 'true' }],
    }),
  key: secretRef(
    'Secret with the provisioner key of this organization and these tags.',
    'coder/keys/default',
  ),
  min: count(
    'Tasks kept at all times. Without it: 0 where `wake` is on and the forecast can be read, else 1, since coderd starts and stops workspaces by itself only while a daemon is up.',
  ).optional(),
  max: count('The most tasks wanted.').min(1).default(20),
  warm: z
    .union([z.literal('auto'), z.int().min(0)])
    .default('auto')
    .meta({
      description:
        'Daemons kept free, on top of the busy ones. `auto`: as many as save more waiting than they cost, by the prices in `waiting`. A number is kept exactly; 0: none.',
    }),
  waiting: poolWaiting,
  dollarsPerLaunch: dollars(
    'Dollars that one launch costs beside the task: GB of the image times $0.045 where it comes through a NAT gateway.',
    DOLLARS_PER_LAUNCH,
  ).default(0),
  idleTimeout: duration().prefault('20s').meta({
    description:
      'How long a daemon that nothing needs stays idle before it drains. 20 s is cheapest; longer seldom pays.',
  }),
  prebuilds,
  whenBlind,
  wake,
  prewarm,
  startTime: duration({ fromMs: 10_000, toMs: 600_000 }).prefault('90s').meta({
    description:
      'What a new task takes until its daemon is registered, `10s` to `10m`; used until three starts have been seen.',
  }),
  schedules,
  retiring: z.boolean().default(false).meta({
    description:
      'On its way out: everyone is asked to leave, nothing is launched. Once `autoscaler status` shows no task left, remove the pool from the file.',
  }),
  scaleIn: z.enum(['lease', 'confirm', 'never']).default('lease').meta({
    description:
      '`lease`: each task protects itself and leaves when asked, no build is killed. `confirm`: for images without sh or curl, with a small risk left. `never`: never scaled in.',
  }),
  image: image.optional(),
  cpu: cpu.optional(),
  memory: memory.optional(),
  architecture: architecture.optional(),
  spot: spot.optional(),
  environment: z
    .record(variableName, z.string())
    .prefault({})
    .meta({
      description: "Environment of the provisioner's container: proxy settings, `TF_*`. Nothing secret.",
      examples: [{ HTTPS_PROXY: 'http://proxy.example.com:3128' }],
    }),
  secrets: z
    .record(variableName, secretRef('Secret that becomes the value.', 'terraform/registry-token'))
    .prefault({})
    .meta({
      description: "Environment of the provisioner's container that is read from secrets.",
      examples: [{ TF_TOKEN_registry_example_com: { secret: 'terraform/registry-token' } }],
    }),
  ...poolDeployment,
});

/** The whole file. What one schema cannot say about several settings together is in rules.ts. */
export const configSchema = z
  .strictObject({
    coder,
    limits,
    looks,
    roll,
    waiting,
    alertAfter: duration()
      .prefault('5m')
      .meta({ description: 'Jobs that have been pending for longer are a finding.' }),
    defaults,
    pools: z
      .array(poolSchema.meta({ examples: [EXAMPLE_POOL] }))
      .min(1)
      .meta({
        description: 'The pools; one ECS service each. At least one.',
        examples: [[EXAMPLE_POOL]],
      }),
    aws,
  })
  .meta({ title: 'Configuration of coder-provisioner-autoscaler' });

export type ParsedConfig = z.output<typeof configSchema>;
