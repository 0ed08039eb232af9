/** The schema of the settings of a pool that only its deployment uses. */
import * as z from 'zod';
import { arnOf } from './aws-ids.ts';

const action = z
  .string()
  .regex(/^(?:\*|[a-z0-9-]+:[A-Za-z0-9*?]+)$/, 'is not an IAM action; write one such as ec2:RunInstances')
  .meta({ description: 'An IAM action.', examples: ['ec2:RunInstances'] });

const resource = z
  .string()
  .regex(/^(?:\*|arn:[^\s]+)$/, 'is not the ARN of a resource; write an ARN or *')
  .meta({ description: 'An ARN, which may contain `*` and `?`; or `*` for all resources.', examples: ['*'] });

const EXAMPLE_STATEMENT = { actions: ['ec2:RunInstances'], resources: ['*'] };

const statement = z
  .strictObject({
    actions: z
      .array(action)
      .min(1)
      .meta({ description: 'IAM actions that the tasks may call.', examples: [EXAMPLE_STATEMENT.actions] }),
    resources: z
      .array(resource)
      .min(1)
      .meta({
        description: 'Resources that the actions may be called on.',
        examples: [EXAMPLE_STATEMENT.resources],
      }),
  })
  .meta({ examples: [EXAMPLE_STATEMENT] });

// One mapping, not a union of two: then each mistake is reported at its place. deployment-rules.ts
// refuses `arn` together with the others.
const taskRole = z
  .strictObject({
    arn: arnOf(
      'role',
      'ARN of an existing role, instead of `policies` and `statements`. It must allow the tasks to read and set their own protection.',
    ).optional(),
    policies: z
      .array(arnOf('policy', 'ARN of a managed policy.'))
      .max(10)
      .default([])
      .meta({
        description: 'Managed policies of the role that the stack creates.',
        examples: [['arn:aws:iam::aws:policy/AmazonEC2FullAccess']],
      }),
    statements: z
      .array(statement)
      .default([])
      .meta({
        description: 'Further allow statements of the role that the stack creates.',
        examples: [[EXAMPLE_STATEMENT]],
        isPrivate: true,
      }),
  })
  .transform(({ arn, ...own }) =>
    arn === undefined ? { kind: 'own' as const, ...own } : { kind: 'existing' as const, arn },
  )
  .prefault({})
  .meta({
    description: 'What Terraform may do in AWS. By default it may do nothing.',
    isReplayed: false,
    examples: [{ policies: ['arn:aws:iam::aws:policy/AmazonEC2FullAccess'] }],
  });

/** Ports below are root's, and the container has a user without rights. */
const FIRST_FREE_PORT = 1024;

export const poolDeployment = {
  spotBase: z.int().min(0).default(0).meta({
    description: 'With `spot`, this many tasks run on demand before further tasks run on Spot.',
    isReplayed: false,
  }),
  ephemeralStorage: z.int().min(20).max(200).default(20).meta({
    description: 'Disk of a task in GiB, image included. The first 20 are free.',
    isReplayed: false,
  }),
  readonlyRootFilesystem: z.boolean().default(false).meta({
    description: 'Make the root file system read-only. coder can write only its cache and temporary files.',
    isReplayed: false,
  }),
  prometheusPort: z
    .int()
    .max(65_535)
    .refine(
      (port) => port >= FIRST_FREE_PORT,
      `is a privileged port, and the container does not run as root; write ${FIRST_FREE_PORT} or more, such as 2112`,
    )
    .meta({
      description:
        'Port on which coder serves its Prometheus metrics. The security groups decide who can reach it.',
      minimum: FIRST_FREE_PORT,
      isReplayed: false,
      examples: [2112],
    })
    .optional(),
  taskRole,
};
