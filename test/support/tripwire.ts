/** A word that every object seems to have: a lookup of it that finds no own field throws. */
import { afterAll, beforeAll } from 'vitest';

export const TRIPWIRE = 'tripwire';

/** Sets it for the tests of a file. */
export function setTripwire(): void {
  const get = (): never => {
    throw new Error('a word of a user was looked up in a plain object: use ownValue() or a Map');
  };
  /** An assignment makes an own field, as it does for `constructor`. */
  function set(this: object, value: unknown): void {
    Object.defineProperty(this, TRIPWIRE, { value, enumerable: true, writable: true, configurable: true });
  }
  beforeAll(() => {
    Object.defineProperty(Object.prototype, TRIPWIRE, { get, set, configurable: true });
  });
  afterAll(() => {
    Reflect.deleteProperty(Object.prototype, TRIPWIRE);
  });
}
