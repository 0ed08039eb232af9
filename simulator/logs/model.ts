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

  /** A line that somebody logs now. */
  put(group: string, message: string): void {
    this.createGroup(group);
    const events = this.#groups.get(group) ?? [];
    events.push({ eventId: `${events.length}`.padStart(56, '0'), timestamp: this.#timeline.now(), message });
  }

  /** Undefined for a group that is not there. */
  events(group: string): readonly LogEvent[] | undefined {
    return this.#groups.get(group);
  }
}
