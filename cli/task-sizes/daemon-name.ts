/** The name that a guard gives its daemon: the pool and the id of the task. */
const DAEMON = /^(.+)-([0-9a-f]{7,})$/;

/** The pool and the task of a daemon; undefined if no guard has named it. */
export function taskOfDaemon(name: string): { readonly pool: string; readonly task: string } | undefined {
  const [, pool, task] = DAEMON.exec(name) ?? [];
  return pool === undefined || task === undefined ? undefined : { pool, task };
}
