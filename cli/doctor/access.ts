/** Checks what all other checks need: AWS, the token, and a coderd that is new enough and on time. */
import { CoderdError, type CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { buildInfoSchema } from '../../lambda/adapters/coderd/http/schemas.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import type { Clients } from '../../lambda/connect.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { Reading, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { compareVersion, OLDEST_SERVER } from '../../lambda/decision/model/version.ts';
import { observeEcs } from '../../lambda/look/observe.ts';
import { isEverywhere, readAwsSetup } from '../shared/aws-advice.ts';
import type { CliEnvironment } from '../shared/cli-environment.ts';
import type { findCluster } from '../shared/stack-cluster.ts';
import { type Check, type Checked, fail, ok, skip, warn } from './check/check.ts';
import { checkToken, checkTokenSecret, SECRET, type TokenSecret } from './token.ts';

const AWS = 'AWS';

export type DoctorContext = {
  readonly config: Deployment;
  readonly clients: Clients;
  readonly caBundle: string | undefined;
  readonly found: Awaited<ReturnType<typeof findCluster>>;
  readonly cliEnvironment: CliEnvironment;
  readonly until: AbortSignal;
  /** Sends the questions of --deep. Undefined without --deep. */
  readonly deepHttp: CoderdHttp | undefined;
};

export async function checkAccess(context: DoctorContext): Promise<Known> {
  const { config, clients, cliEnvironment } = context;
  const [server, onAws] = await Promise.all([
    checkServer(clients.coderd, config.coder, cliEnvironment),
    readAws(context),
  ]);
  return { ...onAws, server, token: await checkToken(clients.coderd, server, onAws.secret) };
}

type OnAws = {
  readonly aws: Checked<true>;
  readonly secret: TokenSecret;
  readonly readings: Snapshot['ecs'];
};

async function readAws({ config, clients, found }: DoctorContext): Promise<OnAws> {
  const { ecs, secrets } = clients;
  const setup = await readAwsSetup(ecs);
  if ('problem' in setup) return awsFails(setup.problem);
  const [secret, readings] = await Promise.all([
    checkTokenSecret(secrets, config.coder.token),
    'problem' in found ? NO_CLUSTER : observeEcs(new EcsAdapter(ecs, found.cluster)),
  ]);
  const listError = readings.services.error;
  const isDown = 'problem' in found || (listError !== undefined && isEverywhere(listError));
  if (secret.everywhere !== undefined && isDown) return awsFails(secret.everywhere);
  const checks = [ok(AWS, `Region ${setup.region}, credentials found on this machine`)];
  return { aws: { checks, value: true }, secret, readings };
}

function awsFails(problem: string): OnAws {
  const aws = { checks: [fail(AWS, problem)], blocker: AWS };
  const secret = { checks: [skip(SECRET, AWS)], blocker: AWS };
  return { aws, secret, readings: NO_CLUSTER };
}

export type Known = OnAws & { readonly server: Checked<Server>; readonly token: Checked<true> };

const NOT_READ: Reading<never> = { status: 'failed', error: 'not read', items: [] };
const NO_CLUSTER: Snapshot['ecs'] = {
  cluster: '',
  services: NOT_READ,
  tasks: NOT_READ,
  protections: NOT_READ,
};

const REACHABLE = 'coderd reachable';
export const VERSION = 'coderd version';
const CLOCK = 'clock';

/** Tolerates the network delay and the whole seconds of the Date header. */
const SKEW_MS = 30_000;

/** `now`: coderd's clock, or this machine's if coderd sends no Date header. */
type Server = { readonly version: string; readonly now: EpochMs };

async function checkServer(
  http: CoderdHttp,
  coder: Config['coder'],
  { environment, now }: CliEnvironment,
): Promise<Checked<Server>> {
  const route = coder.proxy === undefined ? coder.url : `${coder.url} through the proxy ${coder.proxy}`;
  try {
    // without the token: an unreadable token must not hide an unreachable coderd
    const { value, date } = await http.getAs('/api/v2/buildinfo', {}, buildInfoSchema);
    const checks = [ok(REACHABLE, fromHere(route)), checkVersion(value.version), checkClock(date, now())];
    return { checks, value: { version: value.version, now: date ?? now() } };
  } catch (cause) {
    if (!(cause instanceof CoderdError)) throw cause;
    if (IS_DOWN.test(cause.message)) return unreachable(`${coder.url}: ${cause.message}`);
    return cause.code === 'unreachable'
      ? unreachable(cause.message + unreadProxy(coder, environment))
      : notCoderd(route, `${coder.url} does not answer like coderd (${cause.message}). Check coder.url`);
  }
}

/** coder.url is right: what stands in front of coderd answers, or coderd answers slowly. */
const IS_DOWN = /^coderd (?:answered 50[234]|began to answer)/;

/** The function has a network of its own: the check of its last look tells what it reaches. */
const fromHere = (route: string): string => `${route}, from this machine`;

function unreachable(says: string): Checked<never> {
  const checks = [fail(REACHABLE, says), skip(VERSION, REACHABLE), skip(CLOCK, REACHABLE)];
  return { checks, blocker: REACHABLE };
}

function notCoderd(route: string, says: string): Checked<never> {
  return {
    checks: [ok(REACHABLE, fromHere(route)), fail(VERSION, says), skip(CLOCK, VERSION)],
    blocker: VERSION,
  };
}

/** HTTPS_PROXY is not read, as people expect: `lambda/adapters/coderd/http/dispatcher.ts` has the reason. */
function unreadProxy({ proxy }: Config['coder'], environment: CliEnvironment['environment']): string {
  const isSet = Boolean(environment.HTTPS_PROXY ?? environment.https_proxy);
  return isSet && proxy === undefined
    ? '. HTTPS_PROXY is set, but the autoscaler does not read it: if coderd is behind that proxy, set coder.proxy'
    : '';
}

function checkVersion(version: string): Check {
  const age = compareVersion(version, OLDEST_SERVER);
  if (age === undefined)
    return warn(
      VERSION,
      `${version} is not a known release. Make sure that coderd is ${OLDEST_SERVER} or newer`,
    );
  if (age < 0)
    return fail(
      VERSION,
      `${version} is too old: the autoscaler needs the provisioner jobs API. Upgrade coderd to ${OLDEST_SERVER} or newer`,
    );
  return ok(VERSION, version);
}

function checkClock(date: EpochMs | undefined, now: EpochMs): Check {
  if (date === undefined) return warn(CLOCK, 'coderd sends no Date header. Check whether a proxy removes it');
  const skewMs = now - date;
  if (Math.abs(skewMs) <= SKEW_MS) return ok(CLOCK, "coderd's clock agrees with this machine's");
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return warn(
    CLOCK,
    `this machine is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} coderd. Correct the wrong clock with NTP: ages and leases follow coderd's clock`,
  );
}
