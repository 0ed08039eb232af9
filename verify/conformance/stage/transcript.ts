/** What was said while the story was played. */
import type { Answer, Outcome, Question, Stage } from './stage.ts';

export type Entry =
  | { readonly step: string; readonly asked: string; readonly status: number; readonly body: unknown }
  | { readonly step: string; readonly outcome: unknown }
  | { readonly step: string; readonly found: unknown };

export type Transcript = {
  /** Of coderd, as it tells it. */
  readonly version: string;
  /** When it was played, by day. */
  readonly playedAt: string;
  /** Requests of coderd's public API that were made. */
  readonly calls: number;
  readonly entries: readonly Entry[];
};

/** As a file: one line a step. */
export function transcriptText({ entries, ...rest }: Transcript): string {
  const head = JSON.stringify(rest).slice(0, -1);
  return `${head},"entries":[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]}\n`;
}

/** Writes down what the stage says, with names for ids and offsets for times. */
export class Recorder {
  readonly entries: Entry[] = [];
  readonly #stage: Stage;
  readonly #steps = new Set<string>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Asks, writes down the answer, and returns it as it was. */
  async asks(step: string, question: Question): Promise<Answer> {
    const answer = await this.#stage.ask(question);
    const { method = 'GET', path, query = {}, as } = question;
    const pairs = Array.isArray(query) ? query : Object.entries(query);
    const search = pairs.map(([name, value]) => `${name}=${this.#stage.names.plain(value)}`).join('&');
    const asked = `${method} ${path}${search === '' ? '' : `?${search}`}${as === undefined ? '' : ` as ${as}`}`;
    const { status, body } = answer;
    this.#write({ step: this.#once(step), asked, status, body: this.#stage.names.plain(body) });
    return answer;
  }

  async does(step: string, outcome: Promise<Outcome>): Promise<void> {
    this.#write({ step: this.#once(step), outcome: this.#stage.names.plain(await outcome) });
  }

  /** Writes down something that was found out. */
  finds(step: string, found: unknown): void {
    this.#write({ step: this.#once(step), found: this.#stage.names.plain(found) });
  }

  #write(entry: Entry): void {
    this.entries.push(entry);
  }

  /** The list of differences names steps. */
  #once(step: string): string {
    if (this.#steps.has(step)) throw new Error(`playing the story: two steps are called "${step}"`);
    this.#steps.add(step);
    return step;
  }
}
