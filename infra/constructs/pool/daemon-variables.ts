/** The variables of `coder provisioner start` (docs/internals/coder.md §5), and its CA certificates. */
import { by } from '../../../lambda/decision/model/collections.ts';
import type { PoolConfig, SecretRef } from '../../../lambda/decision/model/config.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';

type Authenticated = Pick<PoolConfig, 'auth' | 'organization' | 'tags'>;

/**
 * A key has its own organization and tags. With a pre-shared key or a user's token the daemon sends
 * the tags, and with a token its organization.
 */
export function daemonVariables({
  auth,
  organization,
  tags,
}: Authenticated): Readonly<Record<string, string>> {
  switch (auth.kind) {
    case 'key':
    case 'managed':
      return {};
    case 'psk':
      return sentTags(tags);
    case 'token':
      return { CODER_ORGANIZATION: organization, ...sentTags(tags) };
  }
}

/** coder reads one record of CSV with a field for each tag, and takes an unset variable as none. */
function sentTags({ owner: _, ...tags }: Tags): Readonly<Record<string, string>> {
  const fields = Object.entries(tags)
    .sort(by(([name]) => name))
    .map(([name, value]) => csvField(`${name}=${value}`));
  return fields.length === 0 ? {} : { CODER_PROVISIONERD_TAGS: fields.join(',') };
}

/** As Go's encoding/csv reads it: a field with a quote or a comma is quoted. Tags have no line breaks. */
function csvField(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const DAEMON_KEY = 'CODER_PROVISIONER_DAEMON_KEY';

const CREDENTIALS = {
  key: DAEMON_KEY,
  psk: 'CODER_PROVISIONER_DAEMON_PSK',
  token: 'CODER_SESSION_TOKEN',
} as const;

/** The secret with which the daemon authenticates, by its variable. A managed key has another. */
export function credential({ auth }: Pick<PoolConfig, 'auth'>): Readonly<Record<string, SecretRef>> {
  return auth.kind === 'managed' ? {} : { [CREDENTIALS[auth.kind]]: auth.secret };
}

/**
 * Makes a container trust the CA of coderd's certificate. Fargate cannot mount files, so the
 * certificates are in a variable, and a script writes them to a folder before the guard starts. Go
 * reads the folders of SSL_CERT_DIR in addition to the image's bundle (crypto/x509, root_unix.go).
 * coder, Terraform and its providers are written in Go.
 */
export const CA_BUNDLE_VARIABLE = 'AUTOSCALER_CA_BUNDLE';

/** The command, run so that it also trusts the certificates in the variable. */
export function trusting(command: readonly string[]): string[] {
  return ['sh', '-c', SCRIPT, 'trust', ...command];
}

const SCRIPT = `set -eu
folder=$(mktemp -d)
printf '%s\\n' "$${CA_BUNDLE_VARIABLE}" > "$folder/coderd.pem"
export SSL_CERT_DIR="$folder:\${SSL_CERT_DIR:-/etc/ssl/certs:/etc/pki/tls/certs}"
unset ${CA_BUNDLE_VARIABLE}
exec "$@"
`;
