/**
 * Sends the requests of all checks in parallel, each as soon as what it needs is known. If a check
 * fails, those that depend on it are skipped and name it, so that one cause gives one failure.
 */
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import type { Clients } from '../../lambda/connect.ts';
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
import { observeCoder, observeEcs } from '../../lambda/look/observe.ts';
import { isEverywhere, readAwsSetup } from '../shared/aws-advice.ts';
import type { CliEnvironment } from '../shared/cli-environment.ts';
import { checkAnswers, skipAnswers } from './answers.ts';
import { blockerOf, type Check, type Checked, fail, ok, skip } from './base/check.ts';
import {
  checkOrganizations,
  organizationNames,
  organizationOf,
  skipOrganizations,
} from './base/organizations.ts';
import { checkServer, type Server, VERSION } from './base/server.ts';
import { checkCluster } from './cluster.ts';
import { checkCredentials } from './credentials/pool-credentials.ts';
import { checkToken, checkTokenSecret, skipTokenSecret, type TokenSecret } from './credentials/token.ts';
import { checkLicence } from './licence.ts';

const AWS = 'AWS';

type DoctorContext = {
  readonly config: Config;
  readonly clients: Clients;
  readonly cluster: string | undefined;
  readonly cliEnvironment: CliEnvironment;
  /** Ends all requests. */
  readonly until: AbortSignal;
  /** Sends the questions of --deep. Undefined without --deep. */
  readonly deepHttp: CoderdHttp | undefined;
};

/** The checks, in a fixed order. */
export async function checkAll(context: DoctorContext): Promise<readonly Check[]> {
  const { config, clients, cliEnvironment } = context;
  const [server, onAws] = await Promise.all([
    checkServer(clients.coderd, config.coder, cliEnvironment),
    readAws(context),
  ]);
  const token = await checkToken(clients.coderd, server, onAws.secret);
  const { organizations, licence, pools, inCluster, deeply } = await checkRest(context, {
    ...onAws,
    server,
    token,
  });
  return [
    ...onAws.aws.checks,
    ...server.checks,
    ...onAws.secret.checks,
    ...token.checks,
    ...organizations,
    licence,
    ...pools,
    ...inCluster,
    ...deeply,
  ];
}

type OnAws = {
  readonly aws: Checked<true>;
  readonly secret: TokenSecret;
  readonly readings: Snapshot['ecs'];
};

/** Reads the token's secret and the cluster. */
async function readAws({ config, clients, cluster }: DoctorContext): Promise<OnAws> {
  const { ecs, secrets } = clients;
  const setup = await readAwsSetup(ecs);
  if ('problem' in setup) return awsFails(setup.problem);
  const [secret, readings] = await Promise.all([
    checkTokenSecret(secrets, config.coder.token),
    cluster === undefined ? NO_CLUSTER : observeEcs(new EcsAdapter(ecs, cluster)),
  ]);
  const listError = readings.services.error;
  const isDown = cluster === undefined || (listError !== undefined && isEverywhere(listError));
  if (secret.everywhere !== undefined && isDown) return awsFails(secret.everywhere);
  const checks = [ok(AWS, `Region ${setup.region}, credentials found`)];
  return { aws: { checks, value: true }, secret, readings };
}

function awsFails(problem: string): OnAws {
  const aws = { checks: [fail(AWS, problem)], blocker: AWS };
  return { aws, secret: skipTokenSecret(AWS), readings: NO_CLUSTER };
}

type Known = OnAws & { readonly server: Checked<Server>; readonly token: Checked<true> };

async function checkRest(context: DoctorContext, known: Known) {
  const { config, clients, cluster, cliEnvironment, until } = context;
  const { aws, secret, readings, server, token } = known;
  const blocker = blockerOf(token);
  const ports = { coderd: new CoderdAdapter(clients.coderd), clock: cliEnvironment };
  const reading = blocker === undefined ? observeCoder(ports, config) : Promise.resolve(undefined);
  const findings = reading.then((coder) =>
    findingsOf({ config, readings, coder, server, now: cliEnvironment.now() }),
  );
  const secretsBlocker = blockerOf(aws) ?? (secret.everywhere === undefined ? undefined : blockerOf(secret));
  const { coderd, ecs, secrets } = clients;
  const [coder, found, licence, keys, inCluster] = await Promise.all([
    reading,
    findings,
    checkLicence(coderd, blocker),
    checkCredentials(config.pools, {
      ...{ coderd, secrets, coder: reading, services: readings.services, until, secretsBlocker },
      now: 'value' in server ? server.value.now : cliEnvironment.now(),
      blocker: blockerOf(server),
      readBlocker: blocker,
    }),
    checkCluster(config.pools, { ecs, cluster, readings, findings, until, blocker: blockerOf(aws) }),
  ]);
  return {
    organizations: coder === undefined ? skipOrganizations(config, blocker ?? '') : checkOrganizations(coder),
    licence,
    pools: config.pools.flatMap((pool, index) => [...(keys[index] ?? []), checkImage(pool, found, server)]),
    inCluster,
    deeply: await checkDeeply(context, { coder, server, secret, blocker }),
  };
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
