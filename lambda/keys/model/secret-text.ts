import { inspect } from 'node:util';

/** A key, or a value that contains one. It prints as `[secret]` in texts, JSON and inspect. */
export class SecretText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The raw text, for a request's header or body and nothing else. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

const HIDDEN = '[secret]';
