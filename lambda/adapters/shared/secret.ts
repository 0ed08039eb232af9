import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/** `[secret]` in strings, JSON and logs. test/secrets/watch.test.ts lists the callers of `reveal`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  matches(form: RegExp): boolean {
    return form.test(this.#value);
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
