/** Parameters of Systems Manager: named texts of at most 4 KB (docs/aws.md §4). */
import { AwsError } from '../ecs/requests/errors.ts';

/** Of a standard parameter, in bytes. */
const MOST_BYTES = 4096;

export class ParametersModel {
  readonly #values = new Map<string, string>();
  readonly #denied = new Set<string>();

  /** Creates the parameter, or gives it a new value. Throws AwsError like PutParameter. */
  put(name: string, value: string): void {
    if (value === '' || Buffer.byteLength(value) > MOST_BYTES)
      throw new AwsError(
        'ValidationException',
        'Standard tier parameters support a maximum parameter value of 4096 characters.',
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

  /** Denies everyone the right to read the parameter. */
  deny(name: string): void {
    this.#denied.add(name);
  }

  isDenied(name: string): boolean {
    return this.#denied.has(name);
  }
}
