/**
 * What else than Fargate's tasks (lambda/decision/settings/prices.ts) costs money: dollars in us-east-1, on demand, free tiers left out. Looked up on
 * 2026-11-21 in what cloudburn.io, wring.co, cloudchipr.com and zacfukuda.com quoted in 2026 from the pages named here, all of them
 * below aws.amazon.com; those of extra storage and Secrets Manager are those of docs/aws.md §9, that of traces is from memory. Other regions are up
 * to a quarter dearer.
 */
export const PRICES = {
  // vpc/pricing, privatelink/pricing; data through an endpoint costs a fifth of what it costs through a NAT gateway
  natGatewayHour: 0.045,
  natGatewayGb: 0.045,
  publicIpv4Hour: 0.005,
  /** An hour of an endpoint in one zone. */
  endpointHour: 0.01,
  // fargate/pricing; of what a task has beyond 20 GB
  storageGbHour: 0.000111,
  // lambda/pricing, arm64
  lambdaGbSecond: 0.0000133334,
  lambdaRequest: 0.2e-6,
  // cloudwatch/pricing
  metricMonth: 0.3,
  alarmMonth: 0.1,
  dashboardMonth: 3,
  logsGb: 0.5,
  logsGbMonth: 0.03,
  // secrets-manager/pricing
  secretMonth: 0.4,
  secretCall: 0.05 / 10_000,
  // kms/pricing, eventbridge/pricing, xray/pricing
  keyMonth: 1,
  scheduleRun: 1e-6,
  trace: 5e-6,
} as const;
