/**
 * Every setting of a configuration, in the order of docs/settings.md. `defaults` and the top-level
 * `waiting` are missing: their values are in each pool.
 */
import type { DeployedPool, Deployment } from '../../../lambda/config/rules/deployment.ts';
import type { PoolAuth } from '../../../lambda/decision/model/config.ts';
import {
  dollars,
  duration,
  durationOrAuto,
  hidden,
  list,
  percent,
  plain,
  type Show,
  schedules,
  tags,
} from './values.ts';

export type Setting<From> = {
  /** Of a pool: without `pools[].`. */
  readonly path: string;
  /** Undefined: not set. */
  readonly of: (from: From) => unknown;
  readonly show: Show;
  /** Whether a replay shows what the setting does. */
  readonly isReplayed: boolean;
};

type Row<From> = readonly [path: string, of: (from: From) => unknown, show?: Show];

const settings = <From>(isReplayed: boolean, rows: readonly Row<From>[]): readonly Setting<From>[] =>
  rows.map(([path, of, show = plain]) => ({ path, of, show, isReplayed }));

export const TOP_SETTINGS: readonly Setting<Deployment>[] = [
  ...settings<Deployment>(true, [
    ['limits.maxTasks', ({ limits }) => limits.maxTasks],
    ['limits.dollarsPerHour', ({ limits }) => limits.dollarsPerHour, dollars],
    ['looks.every', ({ looks }) => looks.everyMs, durationOrAuto],
  ]),
  ...settings<Deployment>(false, [
    ['coder.url', ({ coder }) => coder.url],
    ['coder.token', ({ coder }) => coder.token, hidden],
    ['coder.caBundle', ({ coder }) => coder.caBundle],
    ['coder.prebuildsFailureHardLimit', ({ prebuildsFailureHardLimit }) => prebuildsFailureHardLimit],
    ['coder.proxy', ({ coder }) => coder.proxy, hidden],
    ['roll.atOnce', ({ roll }) => roll.atOncePercent, percent],
    ['alertAfter', ({ alertAfterMs }) => alertAfterMs, duration],
    ['managedKeys.token', ({ managedKeys }) => managedKeys?.token, hidden],
    ['managedKeys.rotateAfterDays', ({ managedKeys }) => managedKeys?.rotateAfterDays],
    ['aws.stack', ({ aws }) => aws.stack],
    ['aws.network.vpc', ({ aws }) => aws.network.vpc],
    ['aws.network.subnets', ({ aws }) => aws.network.subnets, list],
    ['aws.network.securityGroups', ({ aws }) => aws.network.securityGroups, list],
    ['aws.network.natGateways', ({ aws }) => aws.network.natGateways],
    ['aws.network.endpoints', ({ aws }) => aws.network.endpoints],
    ['aws.cluster', ({ aws }) => aws.cluster],
    ['aws.logs.group', ({ aws }) => aws.logs.group],
    ['aws.logs.retentionDays', ({ aws }) => aws.logs.retentionDays],
    ['aws.kmsKey', ({ aws }) => aws.kmsKey, hidden],
    ['aws.permissionsBoundary', ({ aws }) => aws.permissionsBoundary, hidden],
    ['aws.bindTaskRoles', ({ aws }) => aws.bindTaskRoles],
    ['aws.function.memory', ({ aws }) => aws.function.memory],
    ['aws.function.inVpc', ({ aws }) => aws.function.inVpc],
    ['aws.function.tracing', ({ aws }) => aws.function.tracing],
    ['aws.function.reservedConcurrency', ({ aws }) => aws.function.reservedConcurrency],
    ['aws.earlySuccess', ({ aws }) => aws.earlySuccess],
    ['aws.alarms.enabled', ({ aws }) => aws.alarms.enabled],
    ['aws.alarms.topic', ({ aws }) => aws.alarms.topic, hidden],
    ['aws.alarms.emails', ({ aws }) => aws.alarms.emails, hidden],
    ['aws.metrics.perPool', ({ aws }) => aws.metrics.perPool],
    ['aws.tags', ({ aws }) => aws.tags, hidden],
  ]),
];

export const POOL_SETTINGS: readonly Setting<DeployedPool>[] = [
  ...settings<DeployedPool>(true, [
    ['organization', ({ organization }) => organization],
    ['tags', ({ tags }) => tags, tags],
    ['min', ({ min }) => min],
    ['max', ({ max }) => max],
    ['warm', ({ warm }) => warm],
    ['waiting.person', ({ waiting }) => waiting.person, dollars],
    ['waiting.autostart', ({ waiting }) => waiting.autostart, dollars],
    ['waiting.prebuild', ({ waiting }) => waiting.prebuild, dollars],
    ['waiting.stop', ({ waiting }) => waiting.stop, dollars],
    ['dollarsPerLaunch', ({ dollarsPerLaunch }) => dollarsPerLaunch, dollars],
    ['idleTimeout', ({ idleTimeoutMs }) => idleTimeoutMs, duration],
    ['prebuilds.maxTasks', ({ prebuilds }) => prebuilds.maxTasks],
    ['whenBlind.floor', ({ whenBlind }) => whenBlind.floor],
    ['wake.autostart', ({ wake }) => wake.autostart],
    ['wake.autostop', ({ wake }) => wake.autostop],
    ['wake.maxDelay', ({ wake }) => wake.maxDelayMs, duration],
    ['prewarm.max', ({ prewarm }) => prewarm.max],
    ['startTime', ({ startTimeMs }) => startTimeMs, duration],
    ['schedules', (pool) => pool.schedules, schedules],
    ['retiring', ({ retiring }) => retiring],
    ['scaleIn', ({ scaleIn }) => scaleIn],
    ['cpu', ({ cpu }) => cpu],
    ['memory', ({ memory }) => memory],
    ['architecture', ({ architecture }) => architecture],
    ['spot', ({ spot }) => spot],
  ]),
  ...settings<DeployedPool>(false, [
    ['key', ({ auth }) => keyOf(auth), hidden],
    ['psk', ({ auth }) => (auth.kind === 'psk' ? auth.secret : undefined), hidden],
    ['token', ({ auth }) => (auth.kind === 'token' ? auth.secret : undefined), hidden],
    ['image', ({ image }) => image],
    ['environment', ({ environment }) => environment, hidden],
    ['secrets', ({ secrets }) => secrets, hidden],
    ['spotBase', ({ spotBase }) => spotBase],
    ['ephemeralStorage', ({ ephemeralStorage }) => ephemeralStorage],
    ['readonlyRootFilesystem', ({ readonlyRootFilesystem }) => readonlyRootFilesystem],
    ['prometheusPort', ({ prometheusPort }) => prometheusPort],
    ['taskRole.arn', ({ taskRole }) => ('arn' in taskRole ? taskRole.arn : undefined), hidden],
    ['taskRole.policies', ({ taskRole }) => ('arn' in taskRole ? undefined : taskRole.policies), hidden],
    ['taskRole.statements', ({ taskRole }) => ('arn' in taskRole ? undefined : taskRole.statements), hidden],
  ]),
];

function keyOf(auth: PoolAuth): unknown {
  if (auth.kind === 'key') return auth.secret;
  return auth.kind === 'managed' ? 'managed' : undefined;
}
