/** Calls the control port of a real coderd (docs/internals/conformance.md): POST with JSON. */
import * as z from 'zod';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { mapping } from '../../../../lambda/shared/mapping.ts';
import { JsonClient } from './ask.ts';

const listSchema = z.object({
  daemons: z
    .array(
      z.object({
        name: z.string(),
        state: z.enum(['running', 'terminating', 'exited']),
        exitCode: z.number().optional(),
      }),
    )
    .nullable(),
});
const words = mapping(z.string(), z.string())
  .nullish()
  .transform((found) => found ?? {});
const tickSchema = z.object({
  transitions: words,
  errors: words,
});

export type DaemonState = NonNullable<z.output<typeof listSchema>['daemons']>[number];

export class ControlPort {
  readonly #http: JsonClient;

  constructor(url: string) {
    this.#http = new JsonClient(url);
  }

  /** Resolves once the daemon is connected to coderd. */
  async start(name: string, tags: Tags): Promise<void> {
    await this.#post('/daemons', z.unknown(), { name, tags });
  }

  /** `terminate` is SIGTERM: the daemon exits after the current job. `kill` is SIGKILL. */
  async signal(name: string, signal: 'terminate' | 'kill'): Promise<void> {
    await this.#post(`/daemons/${name}/${signal}`, z.unknown(), {});
  }

  async list(): Promise<readonly DaemonState[]> {
    return (await this.#post('/daemons/list', listSchema, {})).daemons ?? [];
  }

  /** Runs the lifecycle executor once, as of `at`. Returns what it did by workspace, and its errors. */
  tick(at: Date): Promise<z.output<typeof tickSchema>> {
    return this.#post('/tick', tickSchema, { at: at.toISOString() });
  }

  /** Runs an SQL statement on coderd's database, for states that no request can create. */
  async sql(sql: string): Promise<void> {
    await this.#post('/sql', z.unknown(), { sql });
  }

  #post<T extends z.ZodType>(path: string, schema: T, body: object): Promise<z.output<T>> {
    return this.#http.ask(path, schema, { method: 'POST', body });
  }
}
