/**
 * How a container comes to trust the authority that signed coderd's certificate: Fargate mounts no files, so the certificates travel as text
 * and are written to a folder before the guard starts. Go reads the folders of SSL_CERT_DIR beside the image's own bundle (crypto/x509,
 * root_unix.go), and coder, Terraform and its providers are written in Go.
 */
export const CA_BUNDLE_VARIABLE = 'AUTOSCALER_CA_BUNDLE';

/** Runs a command with the certificates of the variable trusted beside all others. */
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
