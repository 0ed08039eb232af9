/** Parameters of Systems Manager: named texts (docs/internals/aws.md §4). */
import { z } from 'zod';
import { AwsError, type AwsService, accessDenied, EVERYBODY, operationsFor } from '../base/aws-service.ts';

const MOST_BYTES = { Standard: 4096, Advanced: 8192 } as const;

type Tier = keyof typeof MOST_BYTES;

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

  deny(name: string): void {
    this.#denied.add(name);
  }

  permit(name: string): void {
    this.#denied.delete(name);
  }

  /** One denied name refuses the whole request. */
  refuseDenied(action: string, names: readonly string[]): void {
    const denied = names.find((name) => this.#denied.has(name));
    if (denied === undefined) return;
    const resource = `arn:aws:ssm:eu-central-1:123456789012:parameter${denied}`;
    throw accessDenied(`ssm:${action}`, { resource });
  }
}

const operation = operationsFor<ParametersModel>('ValidationException');

/** The role may call only these two. */
export const SYSTEMS_MANAGER: AwsService<ParametersModel> = {
  service: 'ssm',
  operations: {
    /** Missing names are in the answer. The others come in alphabetical order (docs/internals/aws.md §4). */
    GetParameters: operation(
      EVERYBODY,
      z.object({ Names: z.array(z.string().min(1)).min(1).max(10) }),
      (model, { Names }) => {
        model.refuseDenied('GetParameters', Names);
        const found = Names.toSorted().flatMap((Name) => {
          const Value = model.find(Name);
          return Value === undefined ? [] : [{ Name, Value, Type: 'String' }];
        });
        return {
          Parameters: found,
          InvalidParameters: Names.filter((name) => model.find(name) === undefined),
        };
      },
    ),
    PutParameter: operation(
      EVERYBODY,
      z.object({
        Name: z.string().min(1),
        Value: z.string(),
        Type: z.literal('String'),
        Tier: z.enum(['Standard', 'Advanced']).default('Standard'),
        Overwrite: z.boolean().default(false),
      }),
      (model, { Name, Value, Tier, Overwrite }) => {
        model.refuseDenied('PutParameter', [Name]);
        if (!Overwrite && model.find(Name) !== undefined)
          throw new AwsError('ParameterAlreadyExists', 'The parameter already exists.');
        model.put(Name, Value, Tier);
        return { Tier };
      },
    ),
  },
};
