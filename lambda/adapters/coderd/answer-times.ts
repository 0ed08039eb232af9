/** How long coderd takes for lists. If it is lost, a list that fails counts with the time until its failure. */
import type { Reading } from '../../decision/model/snapshot.ts';
import type { CoderdHttp } from './http/http.ts';
import type { ReadableHttp } from './http/reading.ts';

export class AnswerTimes {
  /** By list, of the last answer. */
  readonly #lastMs = new Map<string, number>();

  /**
   * Reads a list with a client that waits for it, and tells the time of all its requests. A list that fails tells that
   * of its last answer: a broken connection does not show what coderd's database has to do.
   */
  async timed<T>(
    list: string,
    http: CoderdHttp,
    read: (http: ReadableHttp) => Promise<Reading<T>>,
  ): Promise<Reading<T>> {
    let sumMs = 0;
    const asking = {
      isSlow: true,
      onTook: (ms: number): void => {
        sumMs += ms;
      },
    };
    const reading = await read({
      get: (path, query, schema, given) => http.get(path, query, schema, { ...given, ...asking }),
    });
    const hasFailed = reading.status === 'failed';
    if (!hasFailed) this.#lastMs.set(list, sumMs);
    return { ...reading, tookMs: hasFailed ? (this.#lastMs.get(list) ?? sumMs) : sumMs };
  }
}
