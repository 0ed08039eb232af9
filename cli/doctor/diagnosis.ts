/**
 * Sends the requests of all checks in parallel, each as soon as what it needs is known. If a check
 * fails, those that depend on it are skipped and name it, so that one cause gives one failure.
 */
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { decide } from '../../lambda/decision/decide.ts';
import { unique } from '../../lambda/decision/model/collections.ts';
import type { Config, PoolConfig } from '../../lambda/decision/model/config.ts';
import type { Finding } from '../../lambda/decision/model/plan.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import {
  compareVersion,
  daemonApiOf,
  OLDEST_SERVER,
  releaseOfImage,
} from '../../lambda/decision/model/version.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { observeCoder } from '../../lambda/look/observe.ts';
import { checkAccess, type DoctorContext, type Known } from './access.ts';
import { checkAnswers, skipAnswers } from './answers.ts';
import { blockerOf, type Check, type Checked, fail, ok, skip, warn } from './base/check.ts';
import { checkLicence } from './base/licence.ts';
import {
  checkOrganizations,
  organizationNames,
  organizationOf,
  skipOrganizations,
} from './base/organizations.ts';
import { type Server, VERSION } from './base/server.ts';
import { checkCluster } from './cluster.ts';
import { renewalAdvice } from './credentials/key.ts';
import { checkCredentials } from './credentials/pool-credentials.ts';
import { checkLaunchPrices } from './launch-price.ts';

/** The checks, in a fixed order. */
export async function checkAll(context: DoctorContext): Promise<readonly Check[]> {
  const known = await checkAccess(context);
  const { aws, server, secret, token } = known;
  const { organizations, licence, pools, inCluster, deeply } = await checkRest(context, known);
  return [
    ...aws.checks,
    ...server.checks,
    ...secret.checks,
    ...token.checks,
    ...organizations,
    licence,
    ...pools,
    ...inCluster,
    ...deeply,
  ];
}

async function checkRest(context: DoctorContext, known: Known) {
  const { config, clients, cluster, cliEnvironment, until } = context;
  const { aws, secret, readings, server, token } = known;
  const blocker = blockerOf(token);
  const reading = readCoder(context, known);
  const findings = reading.then((coder) =>
    findingsOf({ config, readings, coder, server, now: cliEnvironment.now() }),
  );
  const { coderd, ecs } = clients;
  const [coder, found, licence, keys, inCluster, launchPrices] = await Promise.all([
    reading,
    findings,
    checkLicence(coderd, blocker),
    checkPoolCredentials(context, known, reading),
    checkCluster(config.pools, { ecs, cluster, readings, findings, until, blocker: blockerOf(aws) }),
    checkLaunchPrices(context),
  ]);
  return {
    organizations: coder === undefined ? skipOrganizations(config, blocker ?? '') : checkOrganizations(coder),
    licence,
    pools: config.pools.flatMap((pool, index) => [
      ...(keys[index] ?? []),
      ...checkDaemons(pool, found, keys[index] ?? []),
      checkImage(pool, found, server),
      ...(launchPrices[index] ?? []),
    ]),
    inCluster,
    deeply: await checkDeeply(context, { coder, server, secret, blocker }),
  };
}

type CoderReading = Promise<Snapshot['coder'] | undefined>;

/** Undefined if coderd cannot be read with the token. */
export async function readCoder(
  { config, clients, cliEnvironment }: DoctorContext,
  { token }: Known,
): CoderReading {
  if ('blocker' in token) return undefined;
  return observeCoder({ coderd: new CoderdAdapter(clients.coderd), clock: cliEnvironment }, config);
}

/** The checks of each pool's credential and other secrets, in the order of the pools. */
export function checkPoolCredentials(
  { config, clients: { coderd, secrets }, until, cliEnvironment }: DoctorContext,
  { aws, secret, readings, server, token }: Known,
  coder: CoderReading,
): Promise<readonly (readonly Check[])[]> {
  const everywhere = secret.everywhere === undefined ? undefined : blockerOf(secret);
  return checkCredentials(config.pools, {
    ...{ coderd, secrets, coder, services: readings.services, until },
    secretsBlocker: blockerOf(aws) ?? everywhere,
    now: 'value' in server ? server.value.now : cliEnvironment.now(),
    blocker: blockerOf(server),
    readBlocker: blockerOf(token),
  });
}

async function checkDeeply(
  { config, deepHttp: http }: DoctorContext,
  given: {
    readonly coder: Snapshot['coder'] | undefined;
    readonly server: Checked<Server>;
    readonly secret: Checked<string>;
    readonly blocker: string | undefined;
  },
): Promise<readonly Check[]> {
  if (http === undefined) return [];
  const { coder, server, secret, blocker } = given;
  if (coder === undefined || 'blocker' in server || 'blocker' in secret) return [skipAnswers(blocker ?? '')];
  const { version } = server.value;
  if ((compareVersion(version, OLDEST_SERVER) ?? 0) < 0) return [skipAnswers(VERSION)];
  const organizations = unique(
    organizationNames(config.pools).flatMap((name) => organizationOf(coder, name) ?? []),
    ({ id }) => id,
  );
  return checkAnswers({ http, organizations, version, tokenId: secret.value });
}

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
  return credential.every(({ status }) => status === 'ok')
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
