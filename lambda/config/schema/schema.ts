/**
 * The schema of autoscaler.yaml. The CLI, CDK, Lambda, the JSON Schema and the table in
 * docs/settings.md all use it.
 */
import * as z from 'zod';
import type { PoolName } from '../../decision/model/brands.ts';
import type { PoolAuth } from '../../decision/model/config.ts';
import { withoutEmpty } from '../../decision/model/tags.ts';
import { MINUTE_MS } from '../../decision/model/units.ts';
import { mapping } from '../../shared/mapping.ts';
import { aws, eachOnce } from './aws-schema.ts';
import { coder, managedKeys } from './coder-schema.ts';
import { duration } from './durations.ts';
import { FARGATE_CPUS, FARGATE_MEMORY } from './fargate-sizes.ts';
import type { Kind } from './kinds.ts';
import { poolDeployment } from './pool-deployment-schema.ts';
import { schedules } from './schedules.ts';
import { MANAGED, secretRef } from './secret-ref.ts';
import { dollars, poolWaiting, waiting } from './waiting-schema.ts';

// A refusal is the end of a sentence whose subject is the value; `explainIssues` puts the two
// together.

/** From the price of the smallest task to that of some 100,000 tasks. */
const DOLLARS_PER_HOUR = { least: 0.001, most: 10_000 };

const limits = z
  .strictObject({
    maxTasks: z
      .int()
      .min(1)
      .default(100)
      .meta({ description: 'The most tasks that all pools may have together. Draining tasks count.' }),
    dollarsPerHour: dollars(
      'The most that all tasks together may cost an hour, in dollars at the prices of us-east-1. Draining tasks count.',
      DOLLARS_PER_HOUR,
    )
      .meta({ examples: [5] })
      .optional(),
  })
  .prefault({})
  .meta({ description: 'Limits over all pools together.' });

const looks = z
  .strictObject({
    every: z
      .union([z.literal('auto'), duration({ fromMs: 1000, toMs: MINUTE_MS })])
      .prefault('auto')
      .meta({
        description:
          'Time between looks while a job is pending or due, a task is starting or draining, for ten minutes after a build, or where looks save more waiting than they cost: `1s` to `60s`. Otherwise the autoscaler looks once a minute. `auto` is `10s`, and of `30s`, `20s`, `5s` and `2s` what saves more waiting than it costs.',
      }),
  })
  .transform(({ every }) => ({ everyMs: every }))
  .prefault({})
  .meta({ description: 'How often the autoscaler looks.' });

const roll = z
  .strictObject({
    atOnce: z
      .string()
      .regex(/^(?:100|[1-9]\d?)%$/, 'is not a percentage; write 1% to 100%')
      .prefault('25%')
      .meta({
        description:
          "Share of a pool's tasks that the autoscaler replaces at a time after a deployment. It is at least one task.",
        title: 'share' satisfies Kind,
        examples: ['25%'],
      })
      .transform((text) => Number.parseInt(text, 10)),
  })
  .transform(({ atOnce }) => ({ atOncePercent: atOnce }))
  .prefault({})
  .meta({ description: 'How the autoscaler replaces tasks of old revisions.', isReplayed: false });

const image = z
  .string()
  .regex(
    // name, registry's port, tag, digest
    /^[^\s:@]+(?::\d+\/[^\s:@]+)?(?::\w[\w.-]*)?(?:@\w+:\w+)?$/,
    'is not the name of a container image; write one such as ghcr.io/coder/coder:v2.29.19',
  )
  .meta({
    description:
      "Container image with coder. Use coderd's own version. coderd accepts older versions and refuses versions with a newer daemon API. coderd 2.29 or newer accepts the default.",
    isReplayed: false,
  });
const cpu = z.literal(FARGATE_CPUS).meta({ description: 'CPU units of a task. 1024 is 1 vCPU.' });
// rules.ts checks that Fargate has the pair of cpu and memory
const memory = z.int().meta({
  description: 'Memory of a task in MiB. 1024 is 1 GB. Fargate has only certain pairs of `cpu` and `memory`.',
  minimum: FARGATE_MEMORY.min,
  maximum: FARGATE_MEMORY.max,
});
const architecture = z
  .enum(['arm64', 'x86_64'])
  .meta({ description: 'CPU architecture. The image must support it.' });

const spot = z.boolean().meta({
  description:
    'Run on Fargate Spot. It is up to 70 % cheaper, but AWS may stop a task with two minutes’ notice, and its build fails. It suits prebuilds.',
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
  .meta({ description: 'Values for pools that do not set their own.' });

// which pools may have scope and owner is a rule (auth-rules.ts)
const tagName = z.string().regex(/./s, 'is an empty tag name; write a name');

const SET_BY_US = ['CODER_URL', 'CODER_PROVISIONER_DAEMON_NAME', 'AUTOSCALER_POOL', 'AUTOSCALER_CA_BUNDLE'];
// the reason depends on how the pool authenticates (variable-rules.ts)
const REFUSED_IN_EVERY_POOL = [
  'CODER_PROVISIONER_DAEMON_KEY',
  'CODER_PROVISIONER_DAEMON_PSK',
  'CODER_PROVISIONERD_TAGS',
  'CODER_ORGANIZATION',
  'CODER_SESSION_TOKEN',
];
const variableName = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    'is not the name of an environment variable; use letters, digits and _, and do not begin with a digit',
  )
  .refine((name) => !SET_BY_US.includes(name), 'is a variable that the autoscaler sets itself; remove it')
  .refine((name) => !name.startsWith('AUTOSCALER_TEST_'), 'is reserved for tests of the guard; remove it')
  .meta({ not: { enum: [...SET_BY_US, ...REFUSED_IN_EVERY_POOL] } });

const count = (description: string) => z.int().min(0).meta({ description });

const CAPACITIES: readonly string[] = ['spot,on-demand', 'on-demand'];
const capacities = z
  .array(z.enum(['spot', 'on-demand']))
  .refine(
    (kinds) => CAPACITIES.includes(kinds.join()),
    'is not a choice of capacity; write [spot, on-demand], or [on-demand] while the service on Spot drains',
  );

/** AWS reserves names that begin with these, in any case. The JSON Schema has no flags. */
const RESERVED = ['aws', 'ecs', 'fargate'].map((name) =>
  name.replaceAll(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`),
);

const instances = z.strictObject({
  provider: z
    .string()
    .regex(
      new RegExp(`^(?!${RESERVED.join('|')})[\\w-]{1,255}$`),
      'is not a capacity provider of yours; write its name. For Fargate remove capacity, for Spot write [spot, on-demand]',
    )
    .meta({
      description:
        'Name of a capacity provider that you made and that the cluster has. Any `memory` goes with any `cpu`.',
      examples: ['builders'],
    }),
  dollarsPerHour: dollars('What one more task costs an hour, in dollars.', DOLLARS_PER_HOUR)
    .meta({ follows: "Fargate's price of its size" })
    .optional(),
});

const stackName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/, 'is not a name; use at most 128 letters, digits and hyphens')
  .meta({ description: 'The name of another stack, as its `peers.self` has it.', examples: ['us-east'] });

const peers = z
  .strictObject({
    self: stackName.meta({
      description: 'The name of this stack among its peers.',
      examples: ['eu-west'],
    }),
    others: z
      .array(stackName)
      .min(1)
      .refine(...eachOnce)
      .meta({
        description:
          'The names of the other stacks of this coderd that have a pool of these tags. A tag set belongs to one stack; another one launches for its jobs after a minute and twice the start time, at most 10 minutes.',
        examples: [['us-east']],
      }),
  })
  .refine(({ self, others }) => !others.includes(self), {
    path: ['others'],
    message: 'has the name of this stack; keep only those of the other stacks',
  })
  .meta({
    description: 'The stacks that share the jobs of this pool. Their pools need this setting too.',
    examples: [{ self: 'eu-west', others: ['us-east'] }],
    isReplayed: false,
  });

/** Higher prices are mistakes: that is an image of 2 TB. */
const DOLLARS_PER_LAUNCH = { most: 100 };

/** The range of `startTime`. */
export const START_TIME = { fromMs: 10_000, toMs: 600_000 } as const;

const EXAMPLE_POOL = { name: 'default', organization: 'default', key: { secret: 'coder/keys/default' } };

/** One entry of `pools`. What it leaves out of image, cpu, memory and architecture comes from `defaults`. */
export const poolSchema = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]{0,29}$/,
      'is not a pool name; use at most 30 lower-case letters, digits and hyphens, and do not begin with a hyphen',
    )
    .meta({
      description:
        'Unique name of the pool, at most 30 characters. Its daemons are named `<name>-<task id>`.',
      examples: ['default'],
    })
    .transform((name) => name as PoolName),
  organization: z
    .string()
    .regex(
      /^[^\s/]+$/,
      'is not an organization; write its UUID, or its name as in the URL of its page (not the display name)',
    )
    .meta({
      description: 'Name or UUID of the coderd organization that the provisioner key belongs to.',
      examples: ['default'],
    }),
  tags: mapping(tagName, z.string())
    .prefault({})
    .meta({
      description:
        'Tags of the provisioner key. A job can run here if all its tags are among these. A pool without tags runs untagged jobs only. With `token`, `scope: user` and `owner` make it run the jobs of that user only.',
      examples: [{ gpu: 'true' }],
    })
    .transform(withoutEmpty),
  key: z
    .union([
      z.literal(MANAGED),
      secretRef(
        'Secret that holds the provisioner key for this organization and these tags.',
        'coder/keys/default',
      ),
    ])
    .meta({
      description:
        'Secret that holds the provisioner key for this organization and these tags. With `managed`, the stack creates the key and rotates it.',
      examples: [{ secret: 'coder/keys/default' }],
      isReplayed: false,
    })
    .optional(),
  psk: secretRef(
    'Secret that holds the pre-shared key of coderd, instead of `key`. It works in the default organization only, and anyone who has it can serve any job there.',
    'coder/psk',
  ).optional(),
  token: secretRef(
    'Secret that holds the API token of a user, instead of `key`. Templates can read it, so use the token of a user who may do nothing else.',
    'coder/daemon-token',
  ).optional(),
  min: count(
    'The fewest tasks at any time. The default is 0 if `wake` is on and the autoscaler can read the forecast. Otherwise it is 1, because coderd starts and stops workspaces by itself only while a daemon is online.',
  )
    .meta({ follows: '`0`, or `1` without a forecast' })
    .optional(),
  max: count(
    'The most tasks that the pool may want. Prebuilds launch up to 4/5 of it, and the rest is for people. If only prebuilds use the pool, write a quarter more than they need.',
  )
    .min(1)
    .default(20),
  warm: z
    .union([z.literal('auto'), z.int().min(0)])
    .default('auto')
    .meta({
      description:
        'Free daemons to keep in addition to the busy ones. `auto` keeps as many as would have been cheapest on the builds of the last days, at the prices in `waiting`. A number is kept exactly; 0 keeps none.',
    }),
  waiting: poolWaiting,
  dollarsPerLaunch: dollars(
    'Dollars that one launch costs in addition to the task: the compressed GB of the image times $0.045, the price of NAT gateways. The default is that of 0.3 GB. Write 0 if your own VPC has another way out.',
    DOLLARS_PER_LAUNCH,
  )
    .meta({ follows: '`0.0135`; `0` for an image in ECR, and with `capacity.provider`' })
    .optional(),
  idleTimeout: duration().prefault('20s').meta({
    description:
      'How long a daemon that nothing needs stays idle before it drains. With `warm: auto` the learned rule may keep it for longer.',
  }),
  // docs/internals/coder.md §10: without a daemon that it has seen, coderd creates none of these jobs
  wake: z.boolean().default(true).meta({
    description:
      'Keep a daemon online when coderd is due to start workspaces by their schedules, to stop them at their deadline, to clean up failed builds, to make workspaces dormant or to delete them. Each scheduled start gets a daemon of its own, up to `max`; the others may be 10 minutes late.',
  }),
  startTime: duration(START_TIME).prefault('90s').meta({
    description:
      'Time from the launch of a task until its daemon is registered: `10s` to `10m`. The autoscaler uses it while ECS lists fewer than three starts, as after a night at zero.',
  }),
  schedules,
  peers: peers.optional(),
  retiring: z.boolean().default(false).meta({
    description:
      'Drain all tasks of the pool and launch none. Remove the pool from the file once `autoscaler status` shows no task in it.',
  }),
  scaleIn: z
    .enum(['lease'])
    .default('lease')
    .meta({ description: 'No longer needed: every pool has the guard.', deprecated: true }),
  image: image.optional(),
  cpu: cpu.optional(),
  memory: memory.optional(),
  architecture: architecture.optional(),
  spot: spot.optional(),
  capacity: z
    .union([capacities, instances])
    .meta({
      description:
        'With `[spot, on-demand]` the pool has two ECS services: it launches on Spot, and on demand while Spot fails. `[on-demand]` drains the one on Spot, so that you can remove `capacity`. `{ provider }` runs the tasks on EC2 instances of your own. By default `spot` decides.',
      examples: [['spot', 'on-demand']],
    })
    .optional(),
  environment: mapping(variableName, z.string())
    .prefault({})
    .meta({
      description:
        "Environment variables of the provisioner's container, such as proxy settings and `TF_*`. Do not write secrets here.",
      examples: [{ HTTPS_PROXY: 'http://proxy.example.com:3128' }],
      isPrivate: true,
      isReplayed: false,
    }),
  secrets: mapping(
    variableName,
    secretRef('Secret whose value the variable gets.', 'terraform/registry-token'),
  )
    .prefault({})
    .meta({
      description: "Environment variables of the provisioner's container whose values come from secrets.",
      isReplayed: false,
      examples: [{ TF_TOKEN_registry_example_com: { secret: 'terraform/registry-token' } }],
    }),
  ...poolDeployment,
});

/** With the names and units of the decision's fields. */
const pool = poolSchema
  .meta({ examples: [EXAMPLE_POOL] })
  .transform(({ idleTimeout, startTime, key, psk, token, capacity, scaleIn: _, ...same }) => ({
    ...same,
    capacity: Array.isArray(capacity) ? capacity : undefined,
    instances: Array.isArray(capacity) ? undefined : capacity,
    auth: authOf({ key, psk, token }),
    idleTimeoutMs: idleTimeout,
    startTimeMs: startTime,
  }));

/** The whole file. What one schema cannot say about several settings together is in rules.ts. */
export const configSchema = z
  .strictObject({
    coder,
    limits,
    looks,
    roll,
    waiting,
    alertAfter: duration().prefault('5m').meta({
      description: 'A job that has been pending for longer is reported as a finding.',
      isReplayed: false,
    }),
    defaults,
    managedKeys: managedKeys.optional(),
    pools: z
      .array(pool)
      .min(1)
      .meta({
        description: 'The pools, at least one. Each is one ECS service.',
        examples: [[EXAMPLE_POOL]],
      }),
    aws,
  })
  .meta({ title: 'Configuration of coder-provisioner-autoscaler' });

export type ParsedConfig = z.output<typeof configSchema>;

/** A rule checks that exactly one of the three is set. */
function authOf({ key, psk, token }: Pick<z.output<typeof poolSchema>, 'key' | 'psk' | 'token'>): PoolAuth {
  if (psk !== undefined) return { kind: 'psk', secret: psk };
  if (token !== undefined) return { kind: 'token', secret: token };
  return key === undefined || key === MANAGED ? { kind: 'managed' } : { kind: 'key', secret: key };
}
