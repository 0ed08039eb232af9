/** A template and what is known of its lock file. */
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import { LockFileError } from '../lock/lock-file-error.ts';
import { parseLockFile } from '../lock/parse.ts';
import type { ProviderLock } from '../lock/provider-lock.ts';

export const LOCK_FILE = '.terraform.lock.hcl';

/** What is at the place of a lock file. */
export type FoundFile =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly why: string };

export type Template = {
  /** For people: the name, with the organization if there are several. */
  readonly name: string;
  readonly locks: Locks;
};

export type Locks =
  | { readonly kind: 'locked'; readonly providers: readonly ProviderLock[] }
  /** The template has no lock file: Terraform chooses the versions at each build. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly why: string };

export function locksIn(found: FoundFile): Locks {
  if (found.kind === 'none') return { kind: 'none' };
  if (found.kind === 'refused') return { kind: 'unreadable', why: found.why };
  try {
    return { kind: 'locked', providers: parseLockFile(found.bytes) };
  } catch (cause) {
    if (!(cause instanceof LockFileError)) throw cause;
    return { kind: 'unreadable', why: `${LOCK_FILE}: ${messageOf(cause)}` };
  }
}
