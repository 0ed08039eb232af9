/** `autoscaler doctor`: checks everything between this machine, coderd and AWS. */
import type { Command } from 'commander';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { type LoadedConfig, loadConfig } from '../../lambda/config/load.ts';
import { ConfigError, formatProblem } from '../../lambda/config/problems/problems.ts';
import { type Clients, makeClients } from '../../lambda/connect.ts';
import { decide } from '../../lambda/decision/decide.ts';
import { unique } from '../../lambda/decision/model/collections.ts';
import type { Config, PoolConfig } from '../../lambda/decision/model/config.ts';
import type { Finding } from '../../lambda/decision/model/plan.ts';
import type { Reading, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import {
  compareVersion,
  daemonApiOf,
  OLDEST_SERVER,
  releaseOfImage,
} from '../../lambda/decision/model/version.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { some } from '../../lambda/explain/format.ts';
import { observeCoder, observeEcs } from '../../lambda/look/observe.ts';
import type { CliEnvironment, CommandContext } from '../shared/cli-environment.ts';
import { clusterNamed, type LiveOptions, withLiveOptions } from '../shared/live.ts';
import { checkAnswers, skipAnswers } from './answers.ts';
import { blockerOf, type Check, type Checked, fail, ok, skip, warn } from './check.ts';
import { checkCluster } from './cluster.ts';
import { checkKeys } from './keys.ts';
import { checkLicence } from './licence.ts';
import { checkOrganizations, organizationOf, skipOrganizations } from './organizations.ts';
import { checkServer, type Server, VERSION } from './server.ts';
import { checkToken, checkTokenSecret } from './token.ts';

const CONFIGURATION = 'configuration';

type DoctorOptions = LiveOptions & { readonly json: boolean; readonly deep: boolean };

export function addDoctorCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withLiveOptions(program.command('doctor'))
    .description(
      'check configuration, coderd, token, licence, keys, secrets and ECS services; every failed check tells you how to fix it',
    )
    .option(
      '--deep',
      'also send coderd fewer than 100 read-only requests and compare the answers with those of tested releases',
      false,
    )
    .option('--json', 'print the checks as one JSON document', false)
    .action(async (options: DoctorOptions) => {
      const checks = await diagnose(options, cliEnvironment);
      cliEnvironment.out(
        options.json ? `${JSON.stringify({ version: 1, checks }, null, 2)}\n` : render(checks),
      );
      exitWith(checks.some(({ status }) => status === 'FAIL') ? 1 : 0);
    });
}

async function diagnose(options: DoctorOptions, cliEnvironment: CliEnvironment): Promise<readonly Check[]> {
  const loaded = checkConfiguration(options.config);
  if ('blocker' in loaded) return [...loaded.checks, skip('everything else', loaded.blocker)];
  const { config, caBundle } = loaded.value;
  const clients = makeClients(config, caBundle);
  try {
    const cluster = clusterNamed(options, cliEnvironment, config);
    const context = { config, clients, cluster, cliEnvironment, isDeep: options.deep };
    return [...loaded.checks, ...(await checkAll(context))];
  } finally {
    await clients.close();
  }
}

function checkConfiguration(file: string): Checked<LoadedConfig> {
  try {
    const value = loadConfig(file);
    const warnings = value.warnings.map((problem) => warn(CONFIGURATION, formatProblem(problem)));
    const fine = ok(CONFIGURATION, `${file}, ${some(value.config.pools.length, 'pool')}`);
    return { checks: warnings.length > 0 ? warnings : [fine], value };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const checks = cause.problems.map((problem) => fail(CONFIGURATION, formatProblem(problem)));
    return { checks, blocker: CONFIGURATION };
  }
}

type DoctorContext = {
  readonly config: Config;
  readonly clients: Clients;
  readonly cluster: string | undefined;
  readonly cliEnvironment: CliEnvironment;
  readonly isDeep: boolean;
};

async function checkAll({
  config,
  clients,
  cluster,
  cliEnvironment,
  isDeep,
}: DoctorContext): Promise<readonly Check[]> {
  const { coderd, ecs, secrets } = clients;
  const [server, secret, readings] = await Promise.all([
    checkServer(coderd, config.coder, cliEnvironment),
    checkTokenSecret(secrets, config.coder.token),
    cluster === undefined ? NO_CLUSTER : observeEcs(new EcsAdapter(ecs, cluster)),
  ]);
  const token = await checkToken(coderd, server, secret);
  const blocker = blockerOf(token);
  const coder =
    blocker === undefined
      ? await observeCoder({ coderd: new CoderdAdapter(coderd), clock: cliEnvironment }, config)
      : undefined;
  const findings = findingsOf({ config, readings, coder, server, now: cliEnvironment.now() });
  const [licence, keys, inCluster] = await Promise.all([
    checkLicence(coderd, blocker),
    checkKeys(config.pools, { coderd, secrets, coder, blocker: blockerOf(server) }),
    checkCluster(config.pools, { ecs, cluster, readings, findings }),
  ]);
  return [
    ...server.checks,
    ...secret.checks,
    ...token.checks,
    ...(coder === undefined ? skipOrganizations(config, blocker ?? '') : checkOrganizations(coder)),
    licence,
    ...config.pools.flatMap((pool, index) => [...(keys[index] ?? []), checkImage(pool, findings, server)]),
    ...inCluster,
    ...(isDeep ? await checkDeeply({ config, http: coderd, coder, server, secret, blocker }) : []),
  ];
}

async function checkDeeply(given: {
  readonly config: Config;
  readonly http: CoderdHttp;
  readonly coder: Snapshot['coder'] | undefined;
  readonly server: Checked<Server>;
  readonly secret: Checked<string>;
  readonly blocker: string | undefined;
}): Promise<readonly Check[]> {
  const { config, http, coder, server, secret, blocker } = given;
  if (coder === undefined || 'blocker' in server || 'blocker' in secret) return [skipAnswers(blocker ?? '')];
  const { version } = server.value;
  if ((compareVersion(version, OLDEST_SERVER) ?? 0) < 0) return [skipAnswers(VERSION)];
  const names = [...new Set(config.pools.map(({ organization }) => organization))].sort();
  const organizations = unique(
    names.flatMap((name) => organizationOf(coder, name) ?? []),
    ({ id }) => id,
  );
  return checkAnswers({ http, organizations, version, tokenId: secret.value });
}

const NOT_READ: Reading<never> = { status: 'failed', error: 'not read', items: [] };
const NO_CLUSTER: Snapshot['ecs'] = {
  cluster: '',
  services: NOT_READ,
  tasks: NOT_READ,
  protections: NOT_READ,
};

/** The findings of a plan for these readings. */
function findingsOf(given: {
  readonly config: Config;
  readonly readings: Snapshot['ecs'];
  readonly coder: Snapshot['coder'] | undefined;
  readonly server: Checked<Server>;
  readonly now: Snapshot['takenAt'];
}): readonly Finding[] {
  const { config, server, readings: ecs } = given;
  const buildInfo = 'value' in server ? { version: server.value.version } : undefined;
  const coder = given.coder ?? { organizations: [], ...(buildInfo === undefined ? {} : { buildInfo }) };
  return decide({ version: 1, takenAt: given.now, coder, ecs }, config).findings;
}

function checkImage(
  { name: pool, image }: PoolConfig,
  findings: readonly Finding[],
  server: Checked<Server>,
): Check {
  const name = `pool "${pool}": image`;
  if ('blocker' in server) return skip(name, server.blocker);
  const newer = findings.find(
    (finding) => finding.code === 'image-newer-than-server' && finding.pool === pool,
  );
  if (newer !== undefined) return fail(name, sentenceOf(newer));
  const own = server.value.version.replace(/\+.*/, '');
  const release = releaseOfImage(image) ?? '';
  if (release === own) return ok(name, `${image} is of coderd's release`);
  const isKnown = daemonApiOf(release) !== undefined && daemonApiOf(own) !== undefined;
  const says = isKnown ? `coderd accepts daemons of ${image}` : `the tag of ${image} names no known release`;
  return ok(name, `${says}. Prefer coderd's release, ${own}`);
}

function render(checks: readonly Check[]): string {
  const lines = checks.map(({ name, status, says }) => `${status.padEnd(4)}  ${name}: ${oneLine(says)}`);
  return `${[...lines, '', summary(checks)].join('\n')}\n`;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

function summary(checks: readonly Check[]): string {
  const count = (status: Check['status']): number => checks.filter((check) => check.status === status).length;
  const parts = [
    count('FAIL') === 0 ? 'none failed' : `${some(count('FAIL'), 'check')} failed`,
    ...(count('warn') === 0 ? [] : [`${some(count('warn'), 'warning')}`]),
    ...(count('skip') === 0 ? [] : [`${count('skip')} skipped`]),
  ];
  return `${some(checks.length, 'check')}: ${parts.join(', ')}`;
}
