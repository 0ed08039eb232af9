/** CloudWatch Logs: groups of events in order of time. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Timeline } from '../base/timeline.ts';

export type LogEvent = { readonly eventId: string; readonly timestamp: EpochMs; readonly message: string };

export class LogsModel {
  readonly #timeline: Timeline;
  readonly #groups = new Map<string, LogEvent[]>();

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  createGroup(name: string): void {
    if (!this.#groups.has(name)) this.#groups.set(name, []);
  }

  /** Adds a line with the current time. */
  put(group: string, message: string): void {
    this.createGroup(group);
    const events = this.#groups.get(group) ?? [];
    events.push({ eventId: `${events.length}`.padStart(56, '0'), timestamp: this.#timeline.now(), message });
  }

  /** The events of a group; undefined if the group does not exist. */
  events(group: string): readonly LogEvent[] | undefined {
    return this.#groups.get(group);
  }
}
