/**
 * AWS prices other than those of Fargate tasks (lambda/decision/settings/prices.ts): dollars in
 * us-east-1, on demand, without free tiers. Other regions are up to a quarter more expensive.
 *
 * Sources: cloudburn.io, wring.co, cloudchipr.com and zacfukuda.com, read on 2026-11-21. They
 * quoted in 2026 the pages below aws.amazon.com that are named here. The prices of extra storage
 * and Secrets Manager are from docs/internals/aws.md §9. The prices of traces and
 * parameters are from memory.
 */
import { PRICES_OF_LOOKS } from '../../lambda/decision/settings/prices.ts';

export const PRICES = {
  // lambda/pricing, sqs/pricing for standard queues, cloudwatch/pricing, vpc/pricing
  ...PRICES_OF_LOOKS,
  // vpc/pricing, privatelink/pricing. Data through an endpoint costs a fifth of data through a NAT
  // gateway.
  natGatewayHour: 0.045,
  publicIpv4Hour: 0.005,
  // ec2/pricing/on-demand: a cent for each direction, quoted by finopsforge.com, read on 2026-11-28
  betweenZonesGb: 0.02,
  /** One interface endpoint in one zone. */
  endpointHour: 0.01,
  // fargate/pricing, for storage above 20 GB
  storageGbHour: 0.000111,
  // cloudwatch/pricing
  metricMonth: 0.3,
  alarmMonth: 0.1,
  // secrets-manager/pricing
  secretMonth: 0.4,
  secretCall: 0.05 / 10_000,
  // systems-manager/pricing: an advanced parameter, and a request for it
  parameterMonth: 0.05,
  parameterCall: 0.05 / 10_000,
  // cloudtrail/pricing: an event in a second trail of management events (docs/internals/aws.md §9)
  trailEvent: 2 / 100_000,
  // kms/pricing, eventbridge/pricing
  keyMonth: 1,
  scheduleRun: 1e-6,
} as const;
