/** Parameters of Systems Manager: named texts (docs/internals/aws.md §4). */
import { AwsError } from '../ecs/requests/errors.ts';

/** The most bytes of a value, by tier. */
const MOST_BYTES = { Standard: 4096, Advanced: 8192 } as const;

export type Tier = keyof typeof MOST_BYTES;

export class ParametersModel {
  readonly #values = new Map<string, string>();
  readonly #denied = new Set<string>();

  /** Creates the parameter, or gives it a new value. Throws AwsError like PutParameter. */
  put(name: string, value: string, tier: Tier = 'Standard'): void {
    if (value === '' || Buffer.byteLength(value) > MOST_BYTES[tier])
      throw new AwsError(
        'ValidationException',
        `${tier} tier parameters support a maximum parameter value of ${MOST_BYTES[tier]} characters.`,
      );
    if (value.includes('{{'))
      throw new AwsError('ValidationException', `Parameter value can't nest another parameter: ${name}`);
    this.#values.set(name, value);
  }

  /** Undefined if there is no parameter of this name. */
  find(name: string): string | undefined {
    return this.#values.get(name);
  }

  delete(name: string): void {
    this.#values.delete(name);
  }

  /** Denies everyone the right to read and write the parameter. */
  deny(name: string): void {
    this.#denied.add(name);
  }

  /** Ends `deny`. */
  permit(name: string): void {
    this.#denied.delete(name);
  }

  isDenied(name: string): boolean {
    return this.#denied.has(name);
  }
}
