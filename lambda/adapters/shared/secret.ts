import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/**
 * A secret value. In a string, in JSON and in logs it is `[secret]`, so that it cannot be printed by
 * mistake. `reveal` has few callers: test/secrets/secret.test.ts lists them.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself, for the request that needs it. */
  reveal(): string {
    return this.#value;
  }

  /** Whether the value has this form. */
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
