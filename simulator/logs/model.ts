/** CloudWatch Logs: groups of events in order of time. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { AwsError } from '../base/aws-service.ts';
import type { Timeline } from '../base/timeline.ts';

export type LogEvent = { readonly eventId: string; readonly timestamp: EpochMs; readonly message: string };

export type LogRow = Readonly<Record<string, string>>;

export class LogsModel {
  readonly #timeline: Timeline;
  readonly #groups = new Map<string, LogEvent[]>();
  readonly #createdAt = new Map<string, EpochMs>();
  readonly #queries = new Map<string, { readonly rows: readonly LogRow[]; asked: number }>();

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  createGroup(name: string): void {
    if (this.#groups.has(name)) return;
    this.#groups.set(name, []);
    this.#createdAt.set(name, this.#timeline.now());
  }

  createdAt(name: string): EpochMs | undefined {
    return this.#createdAt.get(name);
  }

  put(group: string, message: string): void {
    this.createGroup(group);
    const events = this.#groups.get(group) ?? [];
    events.push({ eventId: `${events.length}`.padStart(56, '0'), timestamp: this.#timeline.now(), message });
  }

  events(group: string): readonly LogEvent[] | undefined {
    return this.#groups.get(group);
  }

  /** The events of a group. Throws AwsError if the group does not exist. */
  eventsOf(group: string): readonly LogEvent[] {
    const events = this.events(group);
    if (events !== undefined) return events;
    throw new AwsError('ResourceNotFoundException', 'The specified log group does not exist.');
  }

  addQuery(rows: readonly LogRow[]): string {
    const id = `query-${this.#queries.size + 1}`;
    this.#queries.set(id, { rows, asked: 0 });
    return id;
  }

  query(id: string): { readonly rows: readonly LogRow[]; readonly asked: number } | undefined {
    const query = this.#queries.get(id);
    if (query !== undefined) query.asked += 1;
    return query;
  }
}
