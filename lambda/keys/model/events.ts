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

/** To CloudFormation, through CDK's Provider framework. */
export type ResourceAnswer = {
  readonly PhysicalResourceId: string;
  /** Absent after a deletion. */
  readonly Data?: { readonly KeyId: string; readonly KeyName: string };
};

/** Why a key is kept, or that it is deleted. */
export type KeyVerdict =
  | 'current'
  | 'pending'
  /** The next sweep deletes it. */
  | 'unused'
  | 'deleted'
  | 'in-use-by-a-task'
  | 'in-use-by-a-daemon'
  | 'too-young'
  | 'in-doubt'
  | 'foreign';

export type KeyReport = {
  readonly id: string;
  readonly name: string;
  readonly organization: string;
  readonly createdAt: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Names of the daemons with this key that coderd still lists; absent: not read. */
  readonly daemons?: readonly string[] | undefined;
  /** The pool for which this deployment made it; undefined for a foreign key. */
  readonly pool?: string | undefined;
  readonly verdict: KeyVerdict;
};

export type PoolReport = {
  readonly pool: string;
  /** Whether tasks that start now get a key that coderd accepts, with the pool's tags. */
  readonly works: 'yes' | 'no' | 'unknown';
  readonly keyId?: string | undefined;
  readonly keyName?: string | undefined;
  /** What is wrong and what to do, in sentences. */
  readonly problems: readonly string[];
};

/** The answer to `{"sweep":true}` and `{"check":true}`. */
export type KeysAnswer = {
  readonly pools: readonly PoolReport[];
  readonly keys: readonly KeyReport[];
  /** What concerns no single pool: the licence, the role, a list that coderd did not give. */
  readonly problems: readonly string[];
};
