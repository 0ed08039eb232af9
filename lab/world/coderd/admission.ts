/**
 * Which daemons may connect (docs/internals/coder.md §3, §5; enterprise/coderd/provisionerdaemons.go). coder asks
 * for a key before it connects, so a wrong key is refused first.
 */
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { ConnectionRefused, type Credential } from '../base/daemon-connection.ts';
import { CoderVersion } from './rules/versions.ts';
import {
  type Admitted,
  NIL_UUID,
  type ProvisionerKey,
  type ProvisionerKeys,
  pskKey,
  SECRET_LENGTH,
  userAuthKey,
} from './tables/keys.ts';
import type { Organization, Organizations } from './tables/organizations.ts';
import { type Authenticated, holds, type TokenUser } from './tables/tokens.ts';

type Daemon = Credential & { readonly name: string; readonly version: string };

type Server = {
  readonly keys: ProvisionerKeys;
  readonly organizations: Organizations;
  readonly psk: string | undefined;
  readonly licensed: boolean;
  readonly version: CoderVersion;
  readonly authenticate: (token: string) => Authenticated;
};

type Caller =
  | { readonly kind: 'key'; readonly key: ProvisionerKey }
  | { readonly kind: 'psk' }
  | { readonly kind: 'user'; readonly user: TokenUser };

/** The names that a daemon's CLI allows (docs/internals/coder.md §5). */
const DAEMON_NAME = /^[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9]$/;

/** @throws ConnectionRefused for a daemon that may not connect */
export function admit(daemon: Daemon, server: Server): Admitted {
  const caller = identify(daemon, server);
  if (!DAEMON_NAME.test(daemon.name))
    throw new ConnectionRefused(
      400,
      `provisioner daemon name "${daemon.name}" invalid: must match ${DAEMON_NAME.source}`,
    );
  if (!server.licensed)
    throw new ConnectionRefused(403, 'External provisioner daemons is an Enterprise feature. Contact sales!');
  const admitted = authorize(caller, daemon, server);
  if (!server.version.accepts(new CoderVersion(daemon.version)))
    throw new ConnectionRefused(400, 'Incompatible or unparsable version');
  return admitted;
}

/** The middleware: a key and a pre-shared key together count as neither. */
function identify({ key, psk, token }: Daemon, server: Server): Caller {
  const provisioner =
    psk !== undefined && key !== undefined ? undefined : provisionerOf({ key, psk }, server);
  const user = token === undefined ? undefined : server.authenticate(token);
  const isUser = user !== undefined && 'user' in user;
  if (isUser && provisioner !== undefined)
    throw new ConnectionRefused(
      400,
      'API key and external provisioner authentication provided, but only one is allowed',
    );
  if (provisioner !== undefined) return provisioner;
  if (isUser) return { kind: 'user', user: user.user };
  throw new ConnectionRefused(
    401,
    'API key or external provisioner authentication required, but none provided',
  );
}

function provisionerOf(
  { key, psk }: { readonly key: string | undefined; readonly psk: string | undefined },
  server: Server,
): Caller | undefined {
  if (psk !== undefined) return psk !== '' && server.psk === psk ? { kind: 'psk' } : undefined;
  if (key === undefined) return undefined;
  if (key.length !== SECRET_LENGTH) throw new ConnectionRefused(400, 'provisioner daemon key invalid');
  const found = server.keys.withSecret(key);
  if (found === undefined) throw new ConnectionRefused(401, 'provisioner daemon key invalid');
  return { kind: 'key', key: found };
}

function authorize(
  caller: Caller,
  { tags = {}, organization = 'default' }: Daemon,
  server: Server,
): Admitted {
  if (caller.kind === 'key') {
    if (Object.keys(tags).length > 0)
      throw refusal(tags, 'tags are not allowed when using a provisioner key');
    return { key: caller.key, owner: NIL_UUID };
  }
  const found = server.organizations.inPath(organization);
  if (found === undefined) throw new ConnectionRefused(404, 'Resource not found or you do not have access');
  return caller.kind === 'psk' ? withPsk(found, tags) : withToken(caller.user, found, tags);
}

function withPsk(organization: Organization, tags: Tags): Admitted {
  if (!organization.isDefault)
    throw refusal(tags, `PSK auth is only allowed for the default organization '${organization.name}'`);
  return { key: pskKey(organization.id, tags), owner: NIL_UUID };
}

/** Every user may run daemons of its own scope. Others need the right to create daemons. */
function withToken(user: TokenUser, { id }: Organization, tags: Tags): Admitted {
  if (tags.scope !== 'user' && !holds(user.keyRights.create, id)) throw refusal(tags, 'user unauthorized');
  return { key: userAuthKey(id, tags), owner: user.userId };
}

function refusal({ scope = '' }: Tags, detail: string): ConnectionRefused {
  return new ConnectionRefused(
    403,
    `You aren't allowed to create provisioner daemons with scope "${scope}": ${detail}`,
  );
}
