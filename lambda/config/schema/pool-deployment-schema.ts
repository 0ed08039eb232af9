/** The schema of the settings of a pool that only its deployment uses. */
import * as z from 'zod';
import { arnOf } from './aws-ids.ts';

// One mapping, not a union of two: then each mistake is reported at its place. deployment-rules.ts
// refuses both together.
const taskRole = z
  .strictObject({
    arn: arnOf(
      'role',
      'ARN of an existing role, instead of `policies`. It must allow the tasks to read and set their own protection.',
    ).optional(),
    policies: z
      .array(arnOf('policy', 'ARN of a managed policy.'))
      .max(10)
      .default([])
      .meta({
        description: 'Managed policies of the role that the stack creates.',
        examples: [['arn:aws:iam::aws:policy/AmazonEC2FullAccess']],
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

export const poolDeployment = {
  ephemeralStorage: z.int().min(20).max(200).default(20).meta({
    description: 'Disk of a task in GiB, image included. The first 20 are free.',
    isReplayed: false,
  }),
  taskRole,
  bindTaskRole: z
    .boolean()
    .meta({
      description:
        'As `aws.bindTaskRoles`, for this pool: `true` in the pool of `autoscaler prove` tells whether AWS accepts it.',
      follows: '`aws.bindTaskRoles`',
      isReplayed: false,
    })
    .optional(),
};
