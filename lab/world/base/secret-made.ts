import { channel } from 'node:diagnostics_channel';

/** The channel on which the simulators announce each token and key that they make. */
export const SECRETS_CHANNEL = 'coder-provisioner-autoscaler:simulated-secret';

const secrets = channel(SECRETS_CHANNEL);

/** Announces a secret: the tests search all output for it (test/secrets/watch.ts). */
export function secretMade(value: string): string {
  secrets.publish(value);
  return value;
}
