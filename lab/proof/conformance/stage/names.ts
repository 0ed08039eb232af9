/** Replaces ids, times and other values that differ in each run by names, and names by values. */
import { ConformanceError } from './question.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const ZERO_TIME = '0001-01-01T00:00:00Z';
const GRID_MS = 5 * 60_000;

export class Names {
  readonly #nameOf = new Map<string, string>();
  readonly #wordOf = new Map<string, string>();
  readonly #startedAt: number;

  /** `startedAt`: milliseconds since 1970; times are shown as offsets from it. */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
    this.set('nil', '00000000-0000-0000-0000-000000000000');
    this.set('built-in key', '00000000-0000-0000-0000-000000000001');
  }

  /** From now on `plain` shows `word` as `name` in braces. */
  set(name: string, word: string): void {
    this.#nameOf.set(word.toLowerCase(), name);
    this.#wordOf.set(name, word);
  }

  /** The word for a name. @throws ConformanceError if the name is unknown: the story lacks a step */
  wordFor(name: string): string {
    const word = this.#wordOf.get(name);
    if (word === undefined)
      throw new ConformanceError(
        `playing the story: nothing has the name "${name}"; check the earlier steps`,
      );
    return word;
  }

  /** Replaces known names in braces by their words; unknown ones stay. */
  fill(text: string): string {
    return text.replaceAll(/\{([^{}]+)\}/g, (all, name: string) => this.#wordOf.get(name) ?? all);
  }

  find(word: string): string | undefined {
    return this.#nameOf.get(word.toLowerCase());
  }

  /** Replaces ids by names, and times by offsets from the beginning of the story, rounded to 5 minutes. */
  plain(value: unknown): unknown {
    if (typeof value === 'string') return this.#plainText(value);
    if (Array.isArray(value)) return value.map((item) => this.plain(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.#plainText(key), this.plain(item)]),
    );
  }

  #plainText(text: string): string {
    if (text === ZERO_TIME) return '<no time>';
    if (TIME.test(text)) return offsetText(Date.parse(text) - this.#startedAt);
    const known = this.find(text);
    if (known !== undefined) return `{${known}}`;
    return text.replaceAll(UUID, (id) => `{${this.find(id) ?? 'id'}}`);
  }
}

function offsetText(ms: number): string {
  const minutes = (Math.round(ms / GRID_MS) * GRID_MS) / 60_000;
  if (minutes === 0) return '<now>';
  const [hours, rest] = [Math.trunc(minutes / 60), Math.abs(minutes % 60)];
  const sign = minutes < 0 ? '-' : '+';
  return `<${sign}${[hours === 0 ? '' : `${Math.abs(hours)} h`, rest === 0 ? '' : `${rest} min`].filter(Boolean).join(' ')}>`;
}
