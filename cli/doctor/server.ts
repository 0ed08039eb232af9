/** Is coderd there, is it one that can be worked with, and does it know what time it is? */
import { CoderdError, type CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { buildInfoSchema } from '../../lambda/adapters/coderd/http/schemas.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { compareVersion, OLDEST_SERVER, REAPS_PENDING_SINCE } from '../../lambda/decision/model/version.ts';
import type { CliEnvironment } from '../shared/cli-environment.ts';
import { type Check, type Checked, fail, ok, skip, warn } from './check.ts';

const REACHABLE = 'coderd reachable';
export const VERSION = 'coderd version';
const CLOCK = 'clock';

/** Answers travel, and the header has whole seconds. */
const SKEW_MS = 30_000;

/** `now`: by coderd's clock, where it told. */
export type Server = { readonly version: string; readonly now: EpochMs };

export async function checkServer(
  http: CoderdHttp,
  coder: Config['coder'],
  { environment, now }: CliEnvironment,
): Promise<Checked<Server>> {
  const way = coder.proxy === undefined ? coder.url : `${coder.url} through the proxy ${coder.proxy}`;
  try {
    // without the token, so that one that can't be read hides nothing
    const { value, date } = await http.getAs('/api/v2/buildinfo', {}, buildInfoSchema);
    const checks = [ok(REACHABLE, way), checkVersion(value.version), checkClock(date, now())];
    return { checks, value: { version: value.version, now: date ?? now() } };
  } catch (cause) {
    if (!(cause instanceof CoderdError)) throw cause;
    return cause.code === 'unreachable'
      ? unreachable(cause.message + unreadProxy(coder, environment))
      : notCoderd(way, `${coder.url} does not answer as coderd does (${cause.message}); check coder.url`);
  }
}

function unreachable(says: string): Checked<never> {
  const checks = [fail(REACHABLE, says), skip(VERSION, REACHABLE), skip(CLOCK, REACHABLE)];
  return { checks, blocker: REACHABLE };
}

function notCoderd(way: string, says: string): Checked<never> {
  return { checks: [ok(REACHABLE, way), fail(VERSION, says), skip(CLOCK, VERSION)], blocker: VERSION };
}

/**
 * People expect it to be read: see `lambda/adapters/coderd/http/dispatcher.ts` for why it isn't.
 */
function unreadProxy({ proxy }: Config['coder'], environment: CliEnvironment['environment']): string {
  const isSet = Boolean(environment.HTTPS_PROXY ?? environment.https_proxy);
  return isSet && proxy === undefined
    ? '; HTTPS_PROXY is set here but not read: if coderd is behind that proxy, write coder.proxy'
    : '';
}

function checkVersion(version: string): Check {
  const age = compareVersion(version, OLDEST_SERVER);
  if (age === undefined)
    return warn(
      VERSION,
      `${version} does not tell its release; make sure that it is ${OLDEST_SERVER} or newer`,
    );
  if (age < 0)
    return fail(
      VERSION,
      `${version} is too old: upgrade coderd to ${OLDEST_SERVER} or newer, for its provisioner jobs API`,
    );
  const older = OLDER.filter(([since]) => (compareVersion(version, since) ?? 0) < 0);
  return ok(VERSION, [version, ...older.map(([since, text]) => `before ${since} ${text}`)].join('; '));
}

/** docs/coder.md §12. */
const OLDER: readonly (readonly [since: string, text: string])[] = [
  [REAPS_PENDING_SINCE, 'jobs that nobody runs wait for ever'],
  [
    '2.26',
    'autostarts make jobs without a daemon, so nothing needs waking, and lists of daemons hold those of the last seven days',
  ],
];

function checkClock(date: EpochMs | undefined, now: EpochMs): Check {
  if (date === undefined) return warn(CLOCK, 'coderd sends no Date header; does a proxy in between drop it?');
  const skewMs = now - date;
  if (Math.abs(skewMs) <= SKEW_MS) return ok(CLOCK, "coderd's agrees with this machine's");
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return warn(
    CLOCK,
    `this machine is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} coderd; set the one that is wrong by NTP: ages and leases are told by coderd's clock`,
  );
}
