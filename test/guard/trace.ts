/**
 * The events of a guard in the order in which the test saw them. A test waits for events, never for
 * time to pass.
 */
export class Trace {
  readonly events: string[] = [];
  readonly #watchers = new Set<() => void>();

  note(event: string): void {
    this.events.push(event);
    for (const watch of [...this.#watchers]) watch();
  }

  /**
   * Resolves when `times` events from index `from` on start with these words. Returns the index
   * after the last of them.
   */
  until(words: string, { times = 1, from = 0 } = {}): Promise<number> {
    return new Promise((resolve) => {
      const watch = () => {
        const end = this.#endOf(words, times, from);
        if (end === undefined) return;
        this.#watchers.delete(watch);
        resolve(end);
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  /** The events from index `from` on that start with these words. */
  having(words: string, from = 0): string[] {
    return this.events.slice(from).filter((event) => event.startsWith(words));
  }

  #endOf(words: string, times: number, from: number): number | undefined {
    let seen = 0;
    for (let at = from; at < this.events.length; at++) {
      if (this.events[at]?.startsWith(words)) seen++;
      if (seen === times) return at + 1;
    }
    return undefined;
  }
}
