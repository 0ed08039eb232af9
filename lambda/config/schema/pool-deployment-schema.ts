/** What only the deployment of a pool asks for: the rest of its entry in `pools`. */
import * as z from 'zod';
import { arnOf } from './aws-ids.ts';

const action = z
  .string()
  .regex(/^(?:\*|[a-z0-9-]+:[A-Za-z0-9*?]+)$/, 'is not an action of IAM; it looks like ec2:RunInstances')
  .meta({ description: 'An action of IAM.', examples: ['ec2:RunInstances'] });

const resource = z
  .string()
  .regex(/^(?:\*|arn:[^\s]+)$/, 'is not the ARN of a resource, nor *')
  .meta({ description: 'An ARN, with `*` and `?` in it if need be; or `*`.', examples: ['*'] });

const EXAMPLE_STATEMENT = { actions: ['ec2:RunInstances'], resources: ['*'] };

const statement = z
  .strictObject({
    actions: z
      .array(action)
      .min(1)
      .meta({ description: 'What is allowed.', examples: [EXAMPLE_STATEMENT.actions] }),
    resources: z
      .array(resource)
      .min(1)
      .meta({ description: 'On what.', examples: [EXAMPLE_STATEMENT.resources] }),
  })
  .meta({ examples: [EXAMPLE_STATEMENT] });

// one mapping rather than a union of two: each mistake in it is then told at its place; rules.ts keeps the two apart
const taskRole = z
  .strictObject({
    arn: arnOf(
      'role',
      'ARN of an existing role, instead of the two below. It must let its tasks read and set their own protection.',
    ).optional(),
    policies: z
      .array(arnOf('policy', 'ARN of a managed policy.'))
      .max(10)
      .default([])
      .meta({
        description: 'Managed policies of its own role.',
        examples: [['arn:aws:iam::aws:policy/AmazonEC2FullAccess']],
      }),
    statements: z
      .array(statement)
      .default([])
      .meta({ description: 'Statements of its own role that allow more.', examples: [[EXAMPLE_STATEMENT]] }),
  })
  .prefault({})
  .meta({
    description: 'What Terraform may do in AWS. Without it: nothing.',
    examples: [{ policies: ['arn:aws:iam::aws:policy/AmazonEC2FullAccess'] }],
  });

/** Ports below are root's, and the container has a user without rights. */
const FIRST_FREE_PORT = 1024;

export const poolDeployment = {
  spotBase: z
    .int()
    .min(0)
    .default(0)
    .meta({ description: 'With `spot`: so many tasks run on demand before any runs on Spot.' }),
  ephemeralStorage: z
    .int()
    .min(20)
    .max(200)
    .default(20)
    .meta({ description: 'GiB of disk a task, image included. The first 20 are free.' }),
  readonlyRootFilesystem: z
    .boolean()
    .default(false)
    .meta({ description: 'Nothing but the cache and temporary files of coder can be written.' }),
  prometheusPort: z
    .int()
    .max(65_535)
    .refine(
      (port) => port >= FIRST_FREE_PORT,
      `is a port for root only, and the container runs without its rights; write ${FIRST_FREE_PORT} or more, such as 2112`,
    )
    .meta({
      description:
        "Serves coder's own Prometheus metrics on this port. Who may reach it is up to the security groups.",
      minimum: FIRST_FREE_PORT,
      examples: [2112],
    })
    .optional(),
  taskRole,
};
