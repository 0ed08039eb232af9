/** The schema of the section `aws`. Only `cdk deploy` uses it; the function ignores it. */
import * as z from 'zod';
import { mapping } from '../../shared/mapping.ts';
import { arnOf, resourceId } from './aws-ids.ts';

export const eachOnce = [
  (items: readonly string[]) => new Set(items).size === items.length,
  'has a duplicate entry; keep one of them',
] as const;

// ECS takes 16 subnets and 5 security groups (API Reference, AwsVpcConfiguration)
const network = z
  .strictObject({
    vpc: resourceId('vpc', 'a VPC')
      .meta({
        description: 'Id of an existing VPC. Write `subnets` too. By default the stack creates a VPC.',
      })
      .optional(),
    subnets: z
      .array(resourceId('subnet', 'a subnet'))
      .max(16)
      .refine(...eachOnce)
      .default([])
      .meta({
        description:
          'Private subnets of `vpc`. They need a route to coderd, to the registry, to what Terraform calls, and to AWS. Without a route to SQS the function waits between its looks, which costs up to $13 a month.',
        examples: [['subnet-0123456789abcdef0', 'subnet-0fedcba9876543210']],
      }),
    securityGroups: z
      .array(resourceId('sg', 'a security group'))
      .max(5)
      .refine(...eachOnce)
      .default([])
      .meta({
        description:
          'Security groups in `vpc` for the tasks and the function. By default the stack creates one that allows no inbound traffic.',
        examples: [['sg-0123456789abcdef0']],
      }),
    natGateways: z.int().min(1).max(2).default(1).meta({
      description:
        'NAT gateways of the VPC that the stack creates. With 2 there is one in each zone, and one zone may fail.',
    }),
    endpoints: z.boolean().default(false).meta({
      description:
        'Create interface endpoints in the VPC that the stack creates. Calls to AWS then bypass the NAT gateway. docs/cost.md has the price.',
    }),
  })
  .prefault({})
  .meta({ description: 'The network of the tasks and the function.' });

/** The days for which CloudWatch can keep logs (its API Reference, PutRetentionPolicy). */
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

const logs = z
  .strictObject({
    group: z
      .string()
      .regex(
        /^(?!aws\/)[.\-_/A-Za-z0-9]{1,256}$/,
        'is not a usable name of a log group; use at most 256 letters, digits and . - _ / (a service carries it as a tag), and do not begin with "aws/"',
      )
      .meta({
        description:
          'Name of an existing log group for all logs. By default the stack creates one for the function and one for each pool.',
        examples: ['/platform/coder-autoscaler'],
      })
      .optional(),
    retentionDays: z
      .literal(RETENTION_DAYS)
      .default(30)
      .meta({ description: 'How many days CloudWatch keeps the logs.' }),
  })
  .prefault({})
  .meta({ description: 'Log groups of the function and the pools.' });

const lambda = z
  .strictObject({
    memory: z
      .int()
      .min(256)
      .max(10_240)
      .default(512)
      .meta({ description: 'Memory of the function in MiB. AWS gives CPU in proportion.' }),
    inVpc: z.boolean().default(true).meta({
      description:
        'Run the function in the network of the tasks. With `false` it runs outside, and coderd must be reachable from the internet.',
    }),
  })
  .prefault({})
  .meta({ description: 'The Lambda function.' });

const alarms = z
  .strictObject({
    enabled: z.boolean().default(true).meta({ description: 'Create the alarms.' }),
    topic: arnOf(
      'topic',
      'ARN of an existing SNS topic for the alarms. By default the stack creates one.',
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
        description:
          'Addresses to subscribe to the topic that the stack creates. Each recipient has to confirm.',
        examples: [['platform@example.com']],
        isPrivate: true,
      }),
  })
  .prefault({})
  .meta({ description: 'CloudWatch alarms.' });

// An ECS service has at most 50 tags. The autoscaler sets five, and four for each of the three
// kinds of overrides. With 35 tags in the settings, two kinds of overrides fit at the same time.
const MOST_TAGS = 35;

// AWS's rules: docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
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
    'is a tag key that the autoscaler sets itself; write a key that does not begin with "coder-autoscaler:"',
  );
const tagValue = z
  .string()
  .regex(
    new RegExp(`^${TAG_CHARACTERS}{0,256}$`, 'u'),
    'is not the value of an AWS tag; use at most 256 letters, digits, spaces and _ . : / = + - @',
  );

/** The name of the stack if the file says none. */
export const DEFAULT_STACK = 'CoderProvisionerAutoscaler';

export const aws = z
  .strictObject({
    stack: z
      .string()
      .regex(
        /^[A-Za-z][A-Za-z0-9-]{0,127}$/,
        'is not the name of a CloudFormation stack; use at most 128 letters, digits and hyphens, and begin with a letter',
      )
      .default(DEFAULT_STACK)
      .meta({
        description: 'Name of the CloudFormation stack. Each deployment in an account needs its own.',
      }),
    network,
    cluster: z
      .string()
      .regex(
        /^[A-Za-z0-9_-]{1,255}$/,
        'is not the name of an ECS cluster; write the part of its ARN after the last "/"',
      )
      .meta({
        description:
          'Name of an existing ECS cluster with Fargate capacity providers. By default the stack creates one.',
        examples: ['platform'],
      })
      .optional(),
    logs,
    kmsKey: arnOf(
      'key',
      'ARN of a KMS key that encrypts the logs, the queue, the topic, the schedule and the function’s environment. While the key is disabled or about to be deleted, all of them fail, and no alarm can reach you. By default AWS uses its own keys.',
    ).optional(),
    permissionsBoundary: arnOf(
      'policy',
      'ARN of the managed policy that is the permissions boundary of every role.',
    ).optional(),
    bindTaskRoles: z
      .boolean()
      .meta({
        description:
          'With `true`, the role of a new task can change the protection of tasks of its own pool only. Use it in a cluster that several trust domains share, once the row `bound-role` of `autoscaler prove` is ok: it has not been tried on AWS yet. Each pool then launches one task first. Roles of your own (`taskRole.arn`) are not bound. `false` says that all builds in the cluster may trust each other.',
        follows: '`false`',
      })
      .optional(),
    guardDuty: z.boolean().default(false).meta({
      description:
        'The execution roles may pull the agent that GuardDuty Runtime Monitoring adds to Fargate tasks. Builds run without it too.',
    }),
    function: lambda,
    earlySuccess: z.boolean().default(false).meta({
      description:
        '`cdk deploy` ends once one new task of each pool is healthy. ECS removes old tasks as their builds end. docs/upgrade.md explains the cost.',
    }),
    alarms,
    metrics: z
      .strictObject({
        perPool: z.boolean().default(false).meta({
          description:
            'Publish three metrics for each pool, at $0.30 a month each, in addition to those of the deployment.',
        }),
      })
      .prefault({})
      .meta({ description: 'CloudWatch metrics.' }),
    tags: mapping(tagName, tagValue)
      .refine(
        (tags) => Object.keys(tags).length <= MOST_TAGS,
        `has too many tags; write at most ${MOST_TAGS}, because AWS allows 50 and the autoscaler needs the others`,
      )
      .default({})
      .meta({
        description: 'Tags on every resource that supports them.',
        examples: [{ 'cost-center': '4711' }],
        isPrivate: true,
      }),
  })
  .prefault({})
  .meta({ description: 'What `cdk deploy` creates.', isReplayed: false });
