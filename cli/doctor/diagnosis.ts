/** Asks everything in parallel. One cause gives one failure: checks that need it are skipped. */
import { IAMClient } from '@aws-sdk/client-iam';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { decide } from '../../lambda/decision/decide.ts';
import { poolOfPart } from '../../lambda/decision/model/brands.ts';
import { unique } from '../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import type { Finding } from '../../lambda/decision/model/plan.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import {
  compareVersion,
  daemonApiOf,
  OLDEST_SERVER,
  releaseOfImage,
} from '../../lambda/decision/model/version.ts';
import { partsOf } from '../../lambda/decision/settings/parts.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { observeCoder } from '../../lambda/look/observe.ts';
import { PATIENT } from '../shared/aws-advice.ts';
import { readServiceRole, SERVICE_ROLE_COMMAND } from '../shared/service-role.ts';
import { checkAccess, type DoctorContext, type Known, VERSION } from './access.ts';
import { checkAnswers, skipAnswers } from './answers.ts';
import { checkArm64 } from './arm64.ts';
import { blockerOf, type Check, fail, ok, skip, warn } from './check/check.ts';
import { checkCluster } from './cluster.ts';
import { checkLicence, checkOrganizations, organizationNames, organizationOf } from './coderd.ts';
import { checkCredentials, renewalAdvice } from './credentials.ts';
import { checkDeployment } from './deployment/deployment.ts';
import { checkKeyFunction, keyCheckOf } from './key-function.ts';
import { checkSharing } from './shared-cluster.ts';

export async function checkAll(context: DoctorContext): Promise<readonly Check[]> {
  const { config, clients, found: cluster, until, cliEnvironment } = context;
  const known = await checkAccess(context);
  const { aws, readings, server, secret, token } = known;
  const blocker = blockerOf(token);
  const coderReading = readCoder(context, known);
  const findings = coderReading.then((coder) => findingsOf(context, known, coder));
  const deployment = {
    ...{ config, services: readings.services, until },
    now: 'value' in server ? server.value.now : cliEnvironment.now(),
    findings: coderReading.then((coder) => (coder === undefined ? [] : findings)),
    blocker: blockerOf(aws),
  };
  const [coder, found, licence, keys, arm64, keyFunction, inCluster, role, deployed] = await Promise.all([
    coderReading,
    findings,
    checkLicence(clients.coderd, blocker),
    checkPoolCredentials(context, known, coderReading),
    coderReading.then((seen) => checkArm64(context, seen, blocker)),
    checkKeyFunction(context, known),
    checkCluster(config.pools.flatMap(partsOf), {
      ecs: clients.ecs,
      cluster,
      readings,
      findings,
      until,
      blocker: blockerOf(aws),
    }),
    'problem' in cluster && blockerOf(aws) === undefined ? checkServiceRole(until) : [],
    checkDeployment(deployment),
  ]);
  return [
    ...[aws, server, secret, token].flatMap(({ checks }) => checks),
    ...checkOrganizations(coder, config, blocker),
    licence,
    ...config.pools.flatMap((pool, index) => {
      const own = keys[index] ?? [];
      const managed = keyFunction.filter(({ name }) => name === keyCheckOf(pool.name));
      return [
        ...own,
        ...checkDaemons(pool, found, [...own, ...managed]),
        checkImage(pool, found, server),
        ...checkStarts(pool, found),
      ];
    }),
    ...arm64,
    ...keyFunction,
    ...role,
    ...inCluster,
    ...checkSharing(config),
    ...deployed,
    ...(await checkDeeply(context, known, coder)),
  ];
}

type CoderReading = Promise<Snapshot['coder'] | undefined>;

/** Undefined if coderd cannot be read with the token. */
async function readCoder({ config, clients, cliEnvironment }: DoctorContext, { token }: Known): CoderReading {
  if ('blocker' in token) return undefined;
  return observeCoder({ coderd: new CoderdAdapter(clients.coderd), clock: cliEnvironment }, config);
}

/** The checks of each pool's credential and other secrets, in the order of the pools. */
function checkPoolCredentials(
  { config, clients: { coderd, secrets }, cliEnvironment }: DoctorContext,
  { aws, secret, server, token }: Known,
  coder: CoderReading,
): Promise<readonly (readonly Check[])[]> {
  const everywhere = secret.everywhere === undefined ? undefined : blockerOf(secret);
  return checkCredentials(config.pools, {
    coderd,
    secrets,
    coder,
    secretsBlocker: blockerOf(aws) ?? everywhere,
    now: 'value' in server ? server.value.now : cliEnvironment.now(),
    blocker: blockerOf(server),
    readBlocker: blockerOf(token),
  });
}

async function checkDeeply(
  { config, deepHttp: http }: DoctorContext,
  { server, secret, token }: Known,
  coder: Snapshot['coder'] | undefined,
): Promise<readonly Check[]> {
  if (http === undefined) return [];
  if (coder === undefined || 'blocker' in server || 'blocker' in secret)
    return [skipAnswers(blockerOf(token) ?? '')];
  const { version } = server.value;
  if ((compareVersion(version, OLDEST_SERVER) ?? 0) < 0) return [skipAnswers(VERSION)];
  const organizations = unique(
    organizationNames(config.pools).flatMap((name) => organizationOf(coder, name) ?? []),
    ({ id }) => id,
  );
  return checkAnswers({ http, organizations, version, tokenId: secret.value });
}

function findingsOf(
  { config, cliEnvironment }: DoctorContext,
  { server, readings: ecs }: Known,
  coder: Snapshot['coder'] | undefined,
): readonly Finding[] {
  const unread = {
    organizations: [],
    ...('value' in server && { buildInfo: { version: server.value.version } }),
  };
  const takenAt = 'value' in server ? server.value.now : cliEnvironment.now();
  return decide({ version: 1, takenAt, coder: coder ?? unread, ecs }, config).findings;
}

/** Daemons show a wrong credential also to those who may not read its secret. */
function checkDaemons(
  pool: PoolConfig,
  findings: readonly Finding[],
  credential: readonly Check[],
): readonly Check[] {
  const differ = findings.find(
    (finding) => finding.code === 'daemon-tags-differ' && finding.pool === pool.name,
  );
  if (differ === undefined) return [];
  const name = `pool "${pool.name}": daemons`;
  const says = sentenceOf(differ).replace(`pool "${pool.name}": `, '');
  return credential.length > 0 && credential.every(({ status }) => status === 'ok')
    ? [
        warn(
          name,
          `${says}. The credential in the secret is right: the autoscaler replaces tasks with an earlier one`,
        ),
      ]
    : [fail(name, `${says}. ${renewalAdvice(pool)}`)];
}

function checkImage(
  { name: pool, image }: PoolConfig,
  findings: readonly Finding[],
  server: Known['server'],
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

/** ECS's wait after failed starts, of each part of the pool: how old it is, and the command that ends it. */
function checkStarts({ name }: PoolConfig, findings: readonly Finding[]): readonly Check[] {
  return findings.flatMap((finding) =>
    finding.code === 'starts-throttled' && poolOfPart(finding.pool) === name
      ? [warn(`pool "${name}": starts`, sentenceOf(finding).replace(`pool "${finding.pool}": `, ''))]
      : [],
  );
}

/** Where a cluster exists, the role does too. Without the right to look there is nothing to say. */
async function checkServiceRole(until: AbortSignal): Promise<readonly Check[]> {
  const name = 'role of ECS';
  const iam = new IAMClient({ requestHandler: PATIENT });
  const seen = await readServiceRole(iam, until).finally(() => iam.destroy());
  if (seen === 'unknown') return [];
  if (seen === 'there') return [ok(name, 'AWSServiceRoleForECS exists')];
  const says = `this account has no AWSServiceRoleForECS, and its first deployment may fail. Run: ${SERVICE_ROLE_COMMAND}`;
  return [warn(name, says)];
}
