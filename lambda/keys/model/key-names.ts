/** `<deployment id>-<pool>-<8 random characters>`: nothing else of coderd's keys tells whose they are. */
import { createHash } from 'node:crypto';

const STACK_CHARACTERS = 14;
const HASH_DIGITS = 8;

/** This deployment: its keys begin with `id`, its secrets have the tag `stack`. */
export type OwnDeployment = { readonly id: string; readonly stack: string };

/**
 * The beginning of the stack's name, for people, and a hash of its ARN. With the longest pool name a key's
 * name has 63 of 64 characters (docs/internals/coder.md §3).
 */
export function deploymentOf(stack: string, stackArn: string): OwnDeployment {
  const readable = stack
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '')
    .slice(0, STACK_CHARACTERS);
  const hash = createHash('sha256').update(stackArn).digest('hex').slice(0, HASH_DIGITS);
  return { id: `${readable}-${hash}`, stack };
}

/** `suffix`: 8 random characters `[a-z0-9]`. */
export function keyName(deployment: OwnDeployment, pool: string, suffix: string): string {
  return `${deployment.id}-${pool}-${suffix}`;
}

/** The pool for which this deployment made the key; undefined for any other key. */
export function poolOfKey({ id }: OwnDeployment, name: string): string | undefined {
  if (!name.startsWith(`${id}-`)) return undefined;
  return OWN_PART.exec(name.slice(id.length + 1))?.groups?.pool;
}

const OWN_PART = /^(?<pool>[a-z0-9][a-z0-9-]*)-[a-z0-9]{8}$/;
