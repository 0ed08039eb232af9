/** Schemas of ECS's answers, with the fields that the project uses. Names and times are those of the SDK. */
import * as z from 'zod';
import type { ServiceArn, TaskArn } from '../../decision/model/brands.ts';
import { time } from '../shared/time.ts';

const taskArn = z.string() as unknown as z.ZodType<TaskArn, TaskArn>;
const serviceArn = z.string() as unknown as z.ZodType<ServiceArn, ServiceArn>;
const count = z.int().nonnegative();

const deployment = z.object({
  id: z.string().optional(),
  status: z.string().optional(),
  taskDefinition: z.string().optional(),
  desiredCount: count.optional(),
  runningCount: count.optional(),
  pendingCount: count.optional(),
  rolloutState: z.string().optional(),
  createdAt: time.optional(),
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
  tags: z.array(z.object({ key: z.string(), value: z.string() })).default([]),
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
});

export const protectionSchema = z.object({
  taskArn,
  protectionEnabled: z.boolean(),
  expirationDate: time.optional(),
});
