/** The section `aws`: what only a deployment asks for. The function reads past it. */
import * as z from 'zod';
import { arnOf, resourceId } from './aws-ids.ts';

const eachOnce = [
  (items: readonly string[]) => new Set(items).size === items.length,
  'names something twice',
] as const;

// ECS takes 16 subnets and 5 security groups (API Reference, AwsVpcConfiguration)
const network = z
  .strictObject({
    vpc: resourceId('vpc', 'a VPC')
      .meta({ description: 'Id of an existing VPC, with `subnets`. Without it: one of its own.' })
      .optional(),
    subnets: z
      .array(resourceId('subnet', 'a subnet'))
      .max(16)
      .refine(...eachOnce)
      .default([])
      .meta({
        description:
          'Private subnets of `vpc`, with a way out to coderd, the registry and what Terraform calls.',
        examples: [['subnet-0123456789abcdef0', 'subnet-0fedcba9876543210']],
      }),
    securityGroups: z
      .array(resourceId('sg', 'a security group'))
      .max(5)
      .refine(...eachOnce)
      .default([])
      .meta({
        description:
          'Security groups in `vpc` for tasks and function. Without them: one that lets nothing in.',
        examples: [['sg-0123456789abcdef0']],
      }),
    natGateways: z
      .int()
      .min(1)
      .max(2)
      .default(1)
      .meta({ description: 'NAT gateways of its own VPC; 2: one a zone, so that a zone can fail.' }),
    endpoints: z.boolean().default(false).meta({
      description:
        'Interface endpoints in its own VPC, so that calls to AWS stay off the NAT gateway. docs/sizes.md has their price.',
    }),
  })
  .prefault({})
  .meta({ description: 'Where tasks and function run.' });

/** What CloudWatch Logs can keep: PutRetentionPolicy in its API reference. */
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

const logs = z
  .strictObject({
    group: z
      .string()
      .regex(
        /^(?!aws\/)[.\-_/A-Za-z0-9]{1,256}$/,
        'is not the name of a log group that fits the tag of a service (256 letters, digits and . - _ /; "aws/" in front is reserved)',
      )
      .meta({
        description:
          'Name of an existing log group for everything. Without it: one for the function and one a pool.',
        examples: ['/platform/coder-autoscaler'],
      })
      .optional(),
    retentionDays: z.literal(RETENTION_DAYS).default(30).meta({ description: 'How long logs are kept.' }),
  })
  .prefault({})
  .meta({ description: 'Where logs go.' });

const lambda = z
  .strictObject({
    memory: z
      .int()
      .min(256)
      .max(10_240)
      .default(512)
      .meta({ description: 'MiB of the function; CPU comes with it.' }),
    inVpc: z.boolean().default(true).meta({
      description: 'Runs in the network above. With `false`: outside, for a coderd on the internet.',
    }),
    tracing: z.boolean().default(false).meta({ description: 'Traces invocations with X-Ray.' }),
    reservedConcurrency: z
      .int()
      .min(1)
      .meta({
        description:
          'Reserves so many invocations at once. Looks that overlap do no harm; 1 refuses a dry run while one runs, and new accounts cannot reserve any.',
      })
      .optional(),
  })
  .prefault({})
  .meta({ description: 'The function.' });

const alarms = z
  .strictObject({
    enabled: z.boolean().default(true).meta({ description: 'Makes the alarms.' }),
    topic: arnOf(
      'topic',
      'ARN of an existing SNS topic that they go to. Without it: one of its own.',
    ).optional(),
    emails: z
      .array(
        z
          .email('is not an e-mail address')
          .meta({ description: 'An e-mail address.', examples: ['platform@example.com'] }),
      )
      .refine(...eachOnce)
      .default([])
      .meta({
        description: 'Subscribed to a topic of its own; each has to confirm.',
        examples: [['platform@example.com']],
      }),
  })
  .prefault({})
  .meta({ description: 'Alarms in CloudWatch.' });

// ECS services carry 50 tags at the most: three are ours, and twelve more while all three kinds of overrides are set
const MOST_TAGS = 35;

// the rules of AWS: docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
const TAG_CHARACTERS = String.raw`[\p{L}\p{Z}\p{N}_.:/=+\-@]`;
const tagName = z
  .string()
  .regex(
    new RegExp(`^${TAG_CHARACTERS}{1,128}$`, 'u'),
    'is not the key of an AWS tag; use 1 to 128 letters, digits, spaces and _ . : / = + - @',
  )
  .refine((name) => !/^aws:/i.test(name), 'is reserved by AWS; write a key that does not begin with "aws:"')
  .refine(
    (name) => !name.startsWith('coder-autoscaler:'),
    'is set by the autoscaler itself; write a key that does not begin with "coder-autoscaler:"',
  );
const tagValue = z
  .string()
  .regex(
    new RegExp(`^${TAG_CHARACTERS}{0,256}$`, 'u'),
    'is not the value of an AWS tag; use at most 256 letters, digits, spaces and _ . : / = + - @',
  );

const STACK = 'CoderProvisionerAutoscaler';

export const aws = z
  .strictObject({
    stack: z
      .string()
      .regex(
        /^[A-Za-z][A-Za-z0-9-]{0,127}$/,
        'is not the name of a CloudFormation stack; use letters, digits and hyphens, a letter first, at most 128 characters',
      )
      .default(STACK)
      .meta({ description: 'Name of the CloudFormation stack. Two deployments in one account need two.' }),
    network,
    cluster: z
      .string()
      .regex(
        /^[A-Za-z0-9_-]{1,255}$/,
        'is not the name of an ECS cluster; write what stands after the last "/" of its ARN',
      )
      .meta({
        description:
          'Name of an existing ECS cluster with Fargate capacity providers. Without it: one of its own.',
        examples: ['platform'],
      })
      .optional(),
    logs,
    kmsKey: arnOf(
      'key',
      'ARN of a KMS key that encrypts logs, queue, topic, schedule and the function’s environment. Without it: keys of AWS.',
    ).optional(),
    permissionsBoundary: arnOf('policy', 'ARN of the managed policy that bounds every role.').optional(),
    bindTaskRoles: z.boolean().default(false).meta({
      description:
        'Not tried on AWS yet. With `true`, new tasks get a role that can change the protection of tasks of their own pool only; for a cluster that several trust domains share.',
    }),
    function: lambda,
    earlySuccess: z.boolean().default(false).meta({
      description:
        'Ends `cdk deploy` once one new task of each pool is healthy; ECS removes old tasks as their builds end. docs/lifecycle.md tells the price.',
    }),
    alarms,
    metrics: z
      .strictObject({
        perPool: z.boolean().default(false).meta({
          description: 'Three metrics a pool, at $0.30 a month each, beside the ten of the deployment.',
        }),
      })
      .prefault({})
      .meta({ description: 'Metrics in CloudWatch.' }),
    tags: z
      .record(tagName, tagValue)
      .refine(
        (tags) => Object.keys(tags).length <= MOST_TAGS,
        `has too many tags; AWS allows 50 and the autoscaler needs some, write at most ${MOST_TAGS}`,
      )
      .default({})
      .meta({
        description: 'Tags of everything that can be tagged.',
        examples: [{ 'cost-center': '4711' }],
      }),
  })
  .prefault({})
  .meta({ description: 'What `cdk deploy` makes.' });
