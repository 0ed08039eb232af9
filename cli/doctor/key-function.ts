/** The part of `doctor` that runs the check of the key function here: with its token, and with the person's AWS credentials. */
import { readUser } from '../../lambda/adapters/coderd/account.ts';
import { CoderdError } from '../../lambda/adapters/coderd/http/http.ts';
import { systemClock } from '../../lambda/connect.ts';
import type { ManagedKeys, PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { POOL_TAG, STACK_TAG, tagOf } from '../../lambda/decision/model/service-tags.ts';
import type { Reading, Service } from '../../lambda/decision/model/snapshot.ts';
import { poolTasks } from '../../lambda/keys/adapters/pool-tasks.ts';
import type { KeyReport, KeysAnswer, KeyVerdict, PoolReport } from '../../lambda/keys/model/events.ts';
import { KeysError } from '../../lambda/keys/model/keys-error.ts';
import { deploymentOf } from '../../lambda/keys/model/pool.ts';
import type { KeyPorts } from '../../lambda/keys/model/ports.ts';
import { managedPoolsOf } from '../../lambda/keys/serve.ts';
import { IS_ROTATING } from '../../lambda/keys/steps/pools.ts';
import { check } from '../../lambda/keys/steps/sweep.ts';
import type { DoctorContext, Known } from './access.ts';
import { blockerOf, type Check, type Checked, fail, ok, skip, warn } from './check/check.ts';
import { connectAsPerson, isOfPerson, type KeysConnection } from './keys-connection.ts';
import { checkExpiry, RENEW, readToken } from './token.ts';

const NAME = 'key function';
const TOKEN = 'key function: token';
const EXPIRY = 'key function: token expiry';

/** None if no pool has a managed key. */
export async function checkKeyFunction(context: DoctorContext, access: Known): Promise<readonly Check[]> {
  const { managedKeys } = context.config;
  if (managedKeys === undefined || managedPoolsOf(context.config).length === 0) return [];
  const blocker = blockerOf(access.aws) ?? blockerOf(access.server);
  if (blocker !== undefined) return [skip(NAME, blocker)];
  const token = await checkToken(context, access, managedKeys);
  if ('blocker' in token) return [...token.checks, skip(NAME, token.blocker)];
  return [...token.checks, ...(await runCheck(context, access, managedKeys))];
}

/** Checks that coderd accepts the token of the key function, and when it expires. */
async function checkToken(
  { clients: { coderd, secrets }, cliEnvironment }: DoctorContext,
  { server }: Known,
  { token: ref }: ManagedKeys,
): Promise<Checked<true>> {
  const failed = (check: Check) => ({ checks: [check, skip(EXPIRY, TOKEN)], blocker: TOKEN });
  const reading = await readToken(secrets, ref, { name: TOKEN, reader: READER });
  if ('check' in reading) return failed(reading.check);
  const http = coderd.withToken(reading.value);
  const now = 'value' in server ? server.value.now : cliEnvironment.now();
  try {
    const { name } = await readUser(http);
    const accepted = ok(TOKEN, `coderd accepts it; its user is "${name}"`);
    return {
      checks: [accepted, await checkExpiry(http, { id: reading.id, now, name: EXPIRY })],
      value: true,
    };
  } catch (cause) {
    const says = cause instanceof CoderdError ? cause.said : messageOf(cause);
    return failed(fail(TOKEN, `secret "${ref.secret}": ${says}. ${RENEW}`));
  }
}

const READER = "the key function's role";

async function runCheck(
  { config, found, caBundle, cliEnvironment, until }: DoctorContext,
  { readings }: Known,
  { token }: ManagedKeys,
): Promise<readonly Check[]> {
  const { services } = readings;
  const [stack, ...others] = stacksOf(config.pools, services);
  if (stack === undefined)
    return [skip(NAME, services.status === 'ok' ? `pool "${config.pools[0]?.name}": service` : 'cluster')];
  if (others.length > 0)
    return [
      fail(
        NAME,
        `the pools have services of stacks ${[stack, ...others].join(', ')} in the cluster. Rename the pools of one of them`,
      ),
    ];
  const connection = connectAsPerson(config, {
    caBundle,
    cluster: 'cluster' in found ? found.cluster : '',
    token,
    until,
  });
  try {
    const ports = await portsOf(connection, stack, cliEnvironment.now);
    return checksOf(await check(ports, managedPoolsOf(config)));
  } catch (cause) {
    if (!(cause instanceof KeysError)) throw cause;
    return [fail(NAME, cause.message)];
  } finally {
    await connection.close();
  }
}

/** The stack's name is a tag of the services of its pools. */
function stacksOf(pools: readonly PoolConfig[], { items }: Reading<Service>): readonly string[] {
  const names = new Set<string>(pools.map(({ name }) => name));
  const own = items.filter((service) => names.has(tagOf(service, POOL_TAG) ?? ''));
  return [...new Set(own.flatMap((service) => tagOf(service, STACK_TAG) ?? []))];
}

async function portsOf(
  { keys, secrets, ecs }: KeysConnection,
  stack: string,
  now: KeyPorts['clock']['now'],
): Promise<KeyPorts> {
  const [arn] = (await secrets.ofStack(stack)).flatMap(({ tags }) => tags[STACK_ID_TAG] ?? []);
  return {
    keys,
    secrets,
    tasks: poolTasks(() => ecs, stack),
    clock: { ...systemClock, now },
    // The check makes no key and has nothing to log: its answer has everything.
    random: { suffix: () => '', token: () => '' },
    log: { info: () => {}, warn: () => {} },
    deployment: arn === undefined ? { id: UNKNOWN, stack } : deploymentOf(stack, arn),
  };
}

/** CloudFormation writes the stack's ARN to its secrets. */
const STACK_ID_TAG = 'aws:cloudformation:stack-id';

/** No name of a key begins with it. */
const UNKNOWN = '?';

function checksOf({ pools, keys, problems }: KeysAnswer): readonly Check[] {
  const own = keys.filter(({ verdict }) => verdict !== 'foreign' && verdict !== 'current');
  const told = pools.flatMap((pool) => pool.problems);
  const others = problems.filter((problem) => !told.some((each) => problem.endsWith(each)));
  return [...pools.map(ofPool), ...others.map((problem) => fail(NAME, problem)), ...own.map(ofKey)];
}

/** The name of the check of a pool's managed key. */
export const keyCheckOf = (pool: string): string => `pool "${pool}": key function`;

function ofPool({ pool, works, keyName, problems }: PoolReport): Check {
  const name = keyCheckOf(pool);
  if (works === 'yes' && problems.length === 0) return ok(name, `key "${keyName}" works; nothing to mend`);
  const says = problems.join('. ');
  const isHarmless = works !== 'no' && problems.every((each) => isOfPerson(each) || each === IS_ROTATING);
  return isHarmless ? warn(name, says) : fail(name, says);
}

function ofKey({ name, pool, organization, verdict }: KeyReport): Check {
  const says = `key "${name}" of organization "${organization}": ${VERDICTS[verdict]}`;
  const check = `pool "${pool}": old keys`;
  return verdict === 'in-doubt' ? warn(check, says) : ok(check, says);
}

const VERDICTS: Readonly<Record<KeyVerdict, string>> = {
  current: 'the current key',
  pending: 'the new key of a rotation that is running',
  unused: 'nothing uses it; the next sweep deletes it',
  deleted: 'deleted',
  'in-use-by-a-task': 'kept, because a task may use it',
  'in-use-by-a-daemon': 'kept, because a daemon uses it',
  'too-young': 'kept for now, because it is too young to tell whether something uses it',
  'in-doubt': 'kept, because it is unknown whether something uses it',
  foreign: 'not of this deployment',
};
