/** Schemas of ECS's answers, with the fields that the project uses. Names and times are those of the SDK. */
import * as z from 'zod';
import type { ServiceArn, TaskArn } from '../../decision/model/brands.ts';
import { POOL_TAG } from '../../decision/model/service-tags.ts';
import { rowsOf, textAt } from '../shared/rows.ts';
import { time } from '../shared/time.ts';

const taskArn = z.string() as unknown as z.ZodType<TaskArn, TaskArn>;
const serviceArn = z.string() as unknown as z.ZodType<ServiceArn, ServiceArn>;
const count = z.int().nonnegative();

const tag = z.object({ key: z.string(), value: z.string() });

const deployment = z.object({
  id: z.string().optional(),
  status: z.string().optional(),
  taskDefinition: z.string().optional(),
  desiredCount: count.optional(),
  runningCount: count.optional(),
  pendingCount: count.optional(),
  rolloutState: z.string().optional(),
  createdAt: time.optional(),
  updatedAt: time.optional(),
});

const deploymentConfiguration = z.object({
  earlySuccessCriteria: z.object({ enable: z.boolean().optional() }).optional(),
});

export const serviceSchema = z.object({
  serviceArn,
  serviceName: z.string(),
  status: z.string(),
  desiredCount: count,
  runningCount: count,
  pendingCount: count,
  taskDefinition: z.string().optional(),
  deployments: z.array(deployment).default([]),
  events: z
    .array(z.object({ id: z.string().optional(), createdAt: time, message: z.string() }))
    .exactOptional(),
  deploymentConfiguration: deploymentConfiguration.optional(),
  tags: z.array(tag).default([]),
});

const container = z.object({
  name: z.string().optional(),
  exitCode: z.int().optional(),
  reason: z.string().optional(),
  networkInterfaces: z.array(z.object({ privateIpv4Address: z.string().optional() })).optional(),
});

export const taskSchema = z.object({
  taskArn,
  group: z.string().optional(),
  lastStatus: z.string(),
  desiredStatus: z.string(),
  taskDefinitionArn: z.string().optional(),
  startedBy: z.string().optional(),
  availabilityZone: z.string().optional(),
  capacityProviderName: z.string().optional(),
  createdAt: time.optional(),
  pullStartedAt: time.optional(),
  pullStoppedAt: time.optional(),
  startedAt: time.optional(),
  stoppingAt: time.optional(),
  stoppedAt: time.optional(),
  stopCode: z.string().optional(),
  stoppedReason: z.string().optional(),
  containers: z.array(container).default([]),
  tags: z.array(tag).optional(),
});

export const protectionSchema = z.object({
  taskArn,
  protectionEnabled: z.boolean(),
  expirationDate: time.optional(),
});

export const serviceRows = rowsOf(serviceSchema, poolIn);
export const taskRows = rowsOf(taskSchema, (row) => textAt(row, 'group'));
export const protectionRows = rowsOf(protectionSchema, (row) => textAt(row, 'taskArn'));

const tagList = z.object({ tags: z.array(tag) });
/** Of a service that is not a pool's. */
export const NO_POOL = '';

/** The pool of a service of which something else cannot be read. */
function poolIn(row: unknown): string | undefined {
  const { data } = tagList.safeParse(row);
  return data && (data.tags.find(({ key }) => key === POOL_TAG)?.value ?? NO_POOL);
}
