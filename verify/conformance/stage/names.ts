/** Names in place of ids and other words that are different each time. */

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const ZERO_TIME = '0001-01-01T00:00:00Z';
const GRID_MS = 5 * 60_000;

export class Names {
  readonly #nameOf = new Map<string, string>();
  readonly #wordOf = new Map<string, string>();
  readonly #startedAt: number;

  /** `startedAt`: milliseconds since 1970, from which times are told. */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
    this.set('nil', '00000000-0000-0000-0000-000000000000');
    this.set('built-in key', '00000000-0000-0000-0000-000000000001');
  }

  /** From now on, `word` is shown as `name`, in braces. */
  set(name: string, word: string): void {
    this.#nameOf.set(word.toLowerCase(), name);
    this.#wordOf.set(name, word);
  }

  /** Throws where there is none: the story has forgotten a step. */
  wordFor(name: string): string {
    const word = this.#wordOf.get(name);
    if (word === undefined) throw new Error(`playing the story: nothing is called "${name}"`);
    return word;
  }

  /** The text with words in place of names in braces; what is no name stays. */
  fill(text: string): string {
    return text.replaceAll(/\{([^{}]+)\}/g, (all, name: string) => this.#wordOf.get(name) ?? all);
  }

  find(word: string): string | undefined {
    return this.#nameOf.get(word.toLowerCase());
  }

  /** A document with names for ids, and times told from the beginning of the story, to 5 minutes. */
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
