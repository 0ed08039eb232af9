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
