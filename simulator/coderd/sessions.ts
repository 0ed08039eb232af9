import type { DaemonConnection } from '../base/daemon-connection.ts';
import { CoderVersion } from './rules/versions.ts';
import { Session, type SessionParts } from './session.ts';
import type { Job } from './tables/jobs.ts';
import { type Admitted, daemonTags } from './tables/keys.ts';

/** The open websockets. */
export class Sessions {
  readonly #open = new Set<Session>();
  readonly #parts: Omit<SessionParts, 'onClosed'>;

  constructor(parts: Omit<SessionParts, 'onClosed'>) {
    this.#parts = parts;
  }

  /** Opens a session for a daemon that was admitted. */
  open(admitted: Admitted, daemon: { readonly name: string; readonly version: string }): DaemonConnection {
    const { key } = admitted;
    const session = new Session(
      {
        organizationId: key.organizationId,
        name: daemon.name,
        keyId: key.id,
        keyName: key.name,
        tags: daemonTags(admitted),
        version: daemon.version,
        apiVersion: new CoderVersion(daemon.version).provisionerApi,
      },
      { ...this.#parts, onClosed: (closed) => this.#open.delete(closed) },
    );
    this.#open.add(session);
    return session;
  }

  tellCancelled(job: Job): void {
    for (const session of this.#open) if (job.updatedBy === session) session.tellCancelled(job);
  }

  /** Closes the sessions of a key, busy ones after their jobs. */
  closeOfKey(keyId: string): void {
    for (const session of [...this.#open]) if (session.keyId === keyId) session.closeWhenFree();
  }
}
