/** The events that the key function accepts. */
import * as z from 'zod';

const properties = z.object({
  Pool: z.string().min(1),
  /** Name or UUID. */
  Organization: z.string().min(1),
  Tags: z.string(),
  SecretArn: z.string().min(1),
  CoderUrl: z.string().default(''),
});

/** Of CDK's Provider framework (`onEvent`). */
const resourceEvent = z.object({
  RequestType: z.enum(['Create', 'Update', 'Delete']),
  RequestId: z.string().optional(),
  PhysicalResourceId: z.string().optional(),
  ResourceProperties: properties,
  OldResourceProperties: properties.partial().optional(),
});

const rotationEvent = z.object({
  Step: z.enum(['createSecret', 'setSecret', 'testSecret', 'finishSecret']),
  SecretId: z.string().min(1),
  ClientRequestToken: z.string().min(1),
});

const sweepEvent = z.strictObject({ sweep: z.literal(true) });
const checkEvent = z.strictObject({ check: z.literal(true) });

export const keyEventSchema = z.union([resourceEvent, rotationEvent, sweepEvent, checkEvent]);

export type ResourceEvent = z.output<typeof resourceEvent>;
export type RotationEvent = z.output<typeof rotationEvent>;
export type KeyEvent = z.output<typeof keyEventSchema>;
