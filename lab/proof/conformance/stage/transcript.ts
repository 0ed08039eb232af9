/** Records the answers of a coderd to the story. */
import type { Entry, Transcript } from '../../../../cli/doctor/answers/recordings.ts';
import { type Answer, ConformanceError, type Question } from './question.ts';
import type { Stage, StageOutcome } from './stage.ts';

/** The transcript as JSON text, one line a step. */
export function transcriptText({ entries, ...rest }: Transcript): string {
  const head = JSON.stringify(rest).slice(0, -1);
  return `${head},"entries":[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]}\n`;
}

/** Records the steps, with names instead of ids and offsets instead of times. */
export class Recorder {
  readonly entries: Entry[] = [];
  readonly #stage: Stage;
  readonly #steps = new Set<string>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

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

  async does(step: string, outcome: Promise<StageOutcome>): Promise<void> {
    this.#write({ step: this.#once(step), outcome: this.#stage.names.plain(await outcome) });
  }

  finds(step: string, found: unknown): void {
    this.#write({ step: this.#once(step), found: this.#stage.names.plain(found) });
  }

  #write(entry: Entry): void {
    this.entries.push(entry);
  }

  /** Refuses a second step of the same name: known differences refer to steps by name. */
  #once(step: string): string {
    if (this.#steps.has(step))
      throw new ConformanceError(`playing the story: two steps have the name "${step}"; rename one`);
    this.#steps.add(step);
    return step;
  }
}
