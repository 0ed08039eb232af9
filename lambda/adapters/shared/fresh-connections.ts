/**
 * A connection that was idle may be dead without the process knowing it: a NAT forgets it after 350 s, and what
 * the far end sends while Lambda freezes the process is lost (docs/internals/aws.md §6). A request on it fails,
 * and so do as many retries as there are dead connections. So none is used that was idle for long.
 */
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';

/** undici closes an idle connection after this time, unless the process is frozen. */
const MOST_IDLE_MS = 4_000;

/** Tells when the idle connections have to go. */
export class IdleLimit {
  readonly #now: () => number;
  #at: number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#at = now();
  }

  /** True if it was not true for so long, also after the clock has stepped back. */
  isDue(): boolean {
    const isDue = Math.abs(this.#now() - this.#at) >= MOST_IDLE_MS;
    if (isDue) this.#at = this.#now();
    return isDue;
  }
}

/** As the SDK's own agents. */
const LIKE_SDK = { keepAlive: true, maxSockets: 50 } as const;

/** Connections for clients of AWS: `agents` for a client's request handler, `closing` for its middleware (EACH_TRY). */
export function freshConnections(now?: () => number) {
  const agents = { httpAgent: new Agent(LIKE_SDK), httpsAgent: new TlsAgent(LIKE_SDK) };
  const limit = new IdleLimit(now);
  const closing =
    <In, Out>(next: (args: In) => Promise<Out>) =>
    (args: In): Promise<Out> => {
      if (limit.isDue()) closeIdle(agents);
      return next(args);
    };
  return { agents, closing };
}

function closeIdle(agents: Readonly<Record<string, Agent>>): void {
  for (const { freeSockets } of Object.values(agents))
    for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
}
