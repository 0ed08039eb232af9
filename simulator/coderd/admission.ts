import { ConnectionRefused } from '../base/daemon-connection.ts';
import { CoderVersion } from './rules/versions.ts';
import { type ProvisionerKey, type ProvisionerKeys, SECRET_LENGTH } from './tables/keys.ts';

/** The names that a daemon's CLI allows (docs/coder.md §5). */
const DAEMON_NAME = /^[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9]$/;

/**
 * Returns the key of a daemon that may connect.
 * @throws ConnectionRefused for any other daemon (docs/coder.md §3, §5)
 */
export function admit(
  daemon: { readonly key: string; readonly name: string; readonly version: string },
  server: { readonly keys: ProvisionerKeys; readonly licensed: boolean; readonly version: CoderVersion },
): ProvisionerKey {
  if (daemon.key.length !== SECRET_LENGTH) throw new ConnectionRefused(400, 'provisioner daemon key invalid');
  const key = server.keys.withSecret(daemon.key);
  if (key === undefined) throw new ConnectionRefused(401, 'provisioner daemon key invalid');
  if (!DAEMON_NAME.test(daemon.name))
    throw new ConnectionRefused(
      400,
      `provisioner daemon name "${daemon.name}" invalid: must match ${DAEMON_NAME.source}`,
    );
  if (!server.licensed)
    throw new ConnectionRefused(403, 'External provisioner daemons is an Enterprise feature. Contact sales!');
  if (!server.version.accepts(new CoderVersion(daemon.version)))
    throw new ConnectionRefused(400, 'Incompatible or unparsable version');
  return key;
}
