import type { PoolAuth, SecretRef } from '../decision/model/config.ts';

/** The secret that the configuration names for a pool's daemons; none if the stack makes it. */
export function secretOf(auth: PoolAuth): SecretRef | undefined {
  return auth.kind === 'managed' ? undefined : auth.secret;
}
