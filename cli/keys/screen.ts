/** What `autoscaler keys list` prints. */
import { few, some, tagText, textOf, timeText } from '../../lambda/explain/format.ts';
import type { KeysReport, ListedKey, OtherKey, PoolKeys, UsedKey } from './report.ts';

export function keysScreen(report: KeysReport): string {
  const { pools, otherKeys, unread, notes } = report;
  return textOf([
    ...pools.flatMap((pool) => [...poolLines(pool), '']),
    ...otherLines(otherKeys, pools),
    ...section('Could not be read:', unread),
    ...section('Not read:', notes),
  ]).trimEnd();
}

const AUTH: Readonly<Record<PoolKeys['auth'], string>> = {
  key: 'a key of its own',
  managed: 'a managed key',
  psk: "coderd's pre-shared key",
  token: "a user's token",
};

function poolLines(pool: PoolKeys): readonly string[] {
  const field = pool.jsonKey === null ? '' : `, field "${pool.jsonKey}"`;
  const secret = pool.secret === null ? 'secret unknown' : `secret "${pool.secret}"${field}`;
  return [
    `pool "${pool.pool}", organization "${pool.organization}": ${AUTH[pool.auth]}, ${secret}`,
    ...pool.keys.flatMap(usedLines),
    ...(pool.rotating ? ['  a rotation is running, or has failed'] : []),
    ...taskLines(pool),
    ...pool.problems.map((problem) => `  problem: ${problem}`),
  ];
}

function usedLines({ is, tasks, ...key }: UsedKey): readonly string[] {
  const used = tasks === null ? 'tasks not read' : some(tasks, 'task');
  return keyLines(is, key, `${used}, ${daemonsText(key)}`);
}

function keyLines(is: string, { id, name, createdAt, tags }: ListedKey, used: string): readonly string[] {
  return [
    `  ${is.padEnd(WIDTH)}  ${name}, made ${timeText(createdAt)}`,
    `  ${' '.repeat(WIDTH)}  id ${id}, tags ${tagText(tags)}; ${used}`,
  ];
}

const WIDTH = 'current'.length;

function daemonsText({ daemons }: ListedKey): string {
  if (daemons === null) return 'daemons not read';
  const online = daemons.filter((daemon) => daemon.online);
  const offline = daemons.length - online.length;
  return `${some(online.length, 'daemon')} online${offline === 0 ? '' : `, ${offline} offline`}`;
}

function taskLines({ auth, tasks, tasksWithoutDaemon }: PoolKeys): readonly string[] {
  if (tasks === null) return ['  which keys its tasks use: not read'];
  if (auth === 'psk' || auth === 'token') return [`  ${some(tasks, 'task')}`];
  const starting = tasksWithoutDaemon ?? 0;
  return starting === 0
    ? []
    : [
        `  ${some(starting, 'task')} of which coderd lists no daemon by its name: starting, or without a guard`,
      ];
}

function otherLines(keys: readonly OtherKey[], pools: readonly PoolKeys[]): readonly string[] {
  if (keys.length === 0) return [];
  const unknown = pools.filter(
    ({ auth, keys: own }) => isKeyed(auth) && !own.some(({ is }) => is === 'current'),
  );
  const names = unknown.map(({ pool }) => `"${pool}"`);
  const doubt = `  The current key of pool ${few(names)} is unknown, so it may be one of these.`;
  return [
    'Keys that no pool uses:',
    ...keys.flatMap((key) => keyLines(key.owner, key, otherText(key))),
    ...(names.length === 0 ? [] : [doubt]),
    '',
  ];
}

const isKeyed = (auth: PoolKeys['auth']): boolean => auth === 'key' || auth === 'managed';

function otherText(key: OtherKey): string {
  const place = `organization "${key.organization}", ${daemonsText(key)}`;
  const online = (key.daemons ?? []).filter((daemon) => daemon.online).map(({ name }) => name);
  const names = online.length === 0 ? '' : ` (${few(online)})`;
  if (key.owner === 'foreign') return `${place}${names}`;
  const next =
    online.length === 0
      ? 'the key function deletes it when nothing can use it'
      : 'no task of the pool has it, and the key function keeps it while a daemon is online. If you do not know the daemon, delete the key with coder provisioner keys delete';
  return `${place}${names}. Made for pool "${key.pool}"; ${next}`;
}

function section(head: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [head, ...lines.map((line) => `  - ${line}`), ''];
}
