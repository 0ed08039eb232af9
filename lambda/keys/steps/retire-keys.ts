/** Judges every key that coderd lists, and deletes those that nobody can hold any more. */
import { messageOf } from '../../decision/model/message-of.ts';
import type { KeyReport, KeyVerdict } from '../model/events.ts';
import type { ManagedPool } from '../model/pool.ts';
import { poolOfKey } from '../model/pool.ts';
import type { KeyFacts, KeyPorts, Listed, Organization, PoolTask, SeenDaemon } from '../model/ports.ts';
import { judgeKey, type PoolSecretFacts, type RetireFacts } from '../rules/retire-key.ts';
import { isOfNoConcern } from './read-keys.ts';

type Retirement = {
  readonly pools: readonly ManagedPool[];
  readonly secrets: ReadonlyMap<string, PoolSecretFacts | undefined>;
  readonly writes: boolean;
  /** Gets a sentence for each failure that did not stop the rest. */
  readonly problems: string[];
};

export async function retireKeys(ports: KeyPorts, given: Retirement): Promise<readonly KeyReport[]> {
  const tasks = lazily(() => ports.tasks.running());
  const reports: KeyReport[] = [];
  for (const organization of await ports.keys.organizations())
    try {
      reports.push(...(await retireIn(ports, given, organization, tasks)));
    } catch (cause) {
      const concerned = given.pools.map((pool) => pool.organization);
      if (!isOfNoConcern(cause, organization, ...concerned)) given.problems.push(messageOf(cause));
    }
  return reports;
}

type ReadTasks = () => Promise<ReadonlyMap<string, readonly PoolTask[]>>;

async function retireIn(
  ports: KeyPorts,
  given: Retirement,
  organization: Organization,
  tasks: ReadTasks,
): Promise<readonly KeyReport[]> {
  const keys = await ports.keys.list(organization);
  const facts = await readFacts(ports, given, { keys, organization, tasks });
  const reports: KeyReport[] = [];
  for (const key of keys.items) {
    const verdict = await carryOut(ports, given, organization, { key, verdict: judgeKey(key, facts) });
    reports.push(reportOf(ports, organization, { key, verdict, daemons: facts.daemons }));
  }
  return reports;
}

/** Reads the lists of daemons and tasks only if they matter. */
async function readFacts(
  { deployment, clock, keys: coderd }: KeyPorts,
  given: Retirement,
  of: {
    readonly keys: Listed<KeyFacts>;
    readonly organization: Organization;
    readonly tasks: ReadTasks;
  },
): Promise<RetireFacts> {
  const { items, now: coderNow } = of.keys;
  const known = { deployment, now: clock.now(), coderNow, pools: given.secrets };
  const blind: RetireFacts = { ...known, tasks: undefined, daemons: undefined };
  const isOpen = items.some((key) => judgeKey(key, blind) === 'in-doubt');
  const reportsDaemons = !given.writes && items.length > 0;
  if (!isOpen && !reportsDaemons) return blind;
  const daemons = await orProblem(given, () => coderd.daemons(of.organization));
  return { ...known, daemons, tasks: isOpen ? await orProblem(given, of.tasks) : undefined };
}

async function carryOut(
  ports: KeyPorts,
  { secrets, writes, problems }: Retirement,
  organization: Organization,
  { key, verdict }: { readonly key: KeyFacts; readonly verdict: KeyVerdict },
): Promise<KeyVerdict> {
  if (verdict !== 'unused' || !writes) return verdict;
  try {
    if (await hasChanged(ports, secrets.get(poolOfKey(ports.deployment, key.name) ?? ''))) return 'in-doubt';
    await ports.keys.delete(organization, key.name);
    ports.log.info('deleted a provisioner key that nothing uses any more', {
      keyId: key.id,
      keyName: key.name,
    });
    return 'deleted';
  } catch (cause) {
    problems.push(messageOf(cause));
    return verdict;
  }
}

/** A rollback may just have taken the previous key back. */
async function hasChanged({ secrets }: KeyPorts, facts: PoolSecretFacts | undefined): Promise<boolean> {
  if (facts === undefined) return false;
  const { changedAt } = await secrets.describe(facts.secretId);
  return changedAt !== facts.changedAt;
}

function reportOf(
  { deployment }: KeyPorts,
  organization: Organization,
  given: {
    readonly key: KeyFacts;
    readonly verdict: KeyVerdict;
    readonly daemons: Listed<SeenDaemon> | undefined;
  },
): KeyReport {
  const { id, name, createdAt, tags } = given.key;
  const daemons = given.daemons?.items.filter(({ keyId }) => keyId === id).map((daemon) => daemon.name);
  return {
    id,
    name,
    organization: organization.name,
    createdAt: new Date(createdAt).toISOString(),
    tags,
    daemons,
    pool: poolOfKey(deployment, name),
    verdict: given.verdict,
  };
}

async function orProblem<T>({ problems }: Retirement, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (cause) {
    problems.push(messageOf(cause));
    return undefined;
  }
}

function lazily<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
}
