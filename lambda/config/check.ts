import { explainIssues, type WrittenAt } from './explain-issues.ts';
import { error, type Mistake, settle, toProblem } from './problems/problems.ts';
import type { DeployedPool, Deployment } from './rules/deployment.ts';
import { draftConfig } from './rules/drafts.ts';
import { defaultLaunchPrice } from './rules/launch-price.ts';
import { checkRules } from './rules/rules.ts';
import { checkSpending } from './rules/spending-rules.ts';
import { configSchema, type ParsedConfig } from './schema/schema.ts';
import { waitingOf } from './schema/waiting-schema.ts';

/** Further findings about a parsed document, such as those of its CA bundle. */
export type MoreFindings = (value: unknown) => Iterable<Mistake>;

/** Makes a configuration of a parsed YAML document. Throws a ConfigError with every problem. */
export function checkConfig(value: unknown, more: MoreFindings = () => []) {
  const { config, findings } = examineConfig(value, more);
  return settle(
    config,
    findings.map((finding) => toProblem(finding)),
  );
}

/** The findings about a parsed YAML document, and the configuration if there is no error among them. */
export function examineConfig(
  value: unknown,
  more: MoreFindings = () => [],
  writtenAt: WrittenAt = () => undefined,
): {
  readonly config?: Deployment;
  readonly findings: readonly Mistake[];
} {
  const others = [...more(value)];
  const final = others.filter(({ isFinal }) => isFinal);
  if (final.length > 0) return { findings: final };
  const written = withoutNulls(value);
  if (written === undefined)
    return {
      findings: [error([], 'the configuration is empty; start with "coder:" and "pools:"'), ...others],
    };
  const parsed = configSchema.safeParse(written);
  const config = parsed.success ? toConfig(parsed.data) : undefined;
  const findings = distinct([
    ...explainIssues(parsed.error?.issues ?? [], written, writtenAt),
    ...checkRules(draftConfig(written)),
    ...(config === undefined ? [] : checkSpending(config)),
    ...others,
  ]);
  return config === undefined ? { findings } : { config, findings };
}

/**
 * Removes nulls: `tags:` without a value is null in YAML and means unset. In lists null stays, as a
 * wrong entry.
 */
function withoutNulls(value: unknown): unknown {
  if (value === null) return undefined;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => (item === null ? null : withoutNulls(item)));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutNulls(item)]));
}

/** Removes duplicates: each pool reports the same mistake in `defaults`. */
function distinct(findings: readonly Mistake[]): Mistake[] {
  return [
    ...new Map(
      findings.map((finding) => [JSON.stringify([finding.path, finding.message]), finding]),
    ).values(),
  ];
}

/** Fills in the defaults that follow other settings. */
function toConfig({ defaults, pools, alertAfter, waiting, ...rest }: ParsedConfig): Deployment {
  const bindsRoles = rest.aws.bindTaskRoles ?? false;
  return {
    ...rest,
    alertAfterMs: alertAfter,
    pools: pools.map((pool) => toPool(pool, { defaults, waiting, bindsRoles })),
  };
}

type ParsedPool = ParsedConfig['pools'][number];

/** A setting that the decision does not know makes `toPool` fail with this text. */
type Forgotten = Record<
  Exclude<keyof ParsedPool, keyof DeployedPool>,
  'is missing in PoolConfig of lambda/decision/model/config.ts'
>;

type Followed = Pick<ParsedConfig, 'defaults' | 'waiting'> & { readonly bindsRoles: boolean };

function toPool(pool: ParsedPool, { defaults, waiting, bindsRoles }: Followed): DeployedPool & Forgotten {
  const image = pool.image ?? defaults.image;
  return {
    ...pool,
    min: pool.min ?? 'auto',
    waiting: waitingOf(waiting, pool.waiting.person),
    image,
    dollarsPerLaunch: pool.dollarsPerLaunch ?? defaultLaunchPrice({ image, instances: pool.instances }),
    cpu: pool.cpu ?? defaults.cpu,
    memory: pool.memory ?? defaults.memory,
    architecture: pool.architecture ?? defaults.architecture,
    bindTaskRole: pool.taskRole.kind === 'own' && (pool.bindTaskRole ?? bindsRoles),
    spot: pool.instances === undefined && (pool.capacity?.includes('spot') ?? pool.spot ?? defaults.spot),
  };
}
