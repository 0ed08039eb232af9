import { z } from 'zod';
import { AwsError } from '../ecs/requests/errors.ts';
import type { ParametersModel } from './model.ts';

const getParametersRequest = z.object({ Names: z.array(z.string().min(1)).min(1).max(10) });
const putParameterRequest = z.object({
  Name: z.string().min(1),
  Value: z.string(),
  Type: z.literal('String'),
  Tier: z.enum(['Standard', 'Advanced']).default('Standard'),
  Overwrite: z.boolean().default(false),
});

/**
 * Calls one operation of Systems Manager by its name. The role may call only GetParameters and
 * PutParameter.
 */
export function callSystemsManager(model: ParametersModel, name: string, body: unknown): object {
  if (name === 'GetParameters') return getParameters(model, parse(getParametersRequest, body).Names);
  if (name === 'PutParameter') return putParameter(model, parse(putParameterRequest, body));
  throw new AwsError('AccessDeniedException', `not authorized to perform: ssm:${name}`);
}

function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const request = schema.safeParse(body);
  if (!request.success) throw new AwsError('ValidationException', z.prettifyError(request.error));
  return request.data;
}

/**
 * One denied name refuses the whole request. Missing names are in the answer. The others come in
 * alphabetical order (docs/internals/aws.md §4).
 */
function getParameters(model: ParametersModel, names: readonly string[]) {
  refuseDenied(model, 'GetParameters', names);
  const found = names.flatMap((Name) => {
    const Value = model.find(Name);
    return Value === undefined ? [] : [{ Name, Value, Type: 'String' }];
  });
  return {
    Parameters: found.sort(byName),
    InvalidParameters: names.filter((name) => model.find(name) === undefined),
  };
}

function putParameter(
  model: ParametersModel,
  { Name, Value, Tier, Overwrite }: z.infer<typeof putParameterRequest>,
) {
  refuseDenied(model, 'PutParameter', [Name]);
  if (!Overwrite && model.find(Name) !== undefined)
    throw new AwsError('ParameterAlreadyExists', 'The parameter already exists.');
  model.put(Name, Value, Tier);
  return { Tier };
}

function refuseDenied(model: ParametersModel, action: string, names: readonly string[]): void {
  const denied = names.find((name) => model.isDenied(name));
  if (denied === undefined) return;
  throw new AwsError(
    'AccessDeniedException',
    `User: arn:aws:sts::123456789012:assumed-role/somebody/session is not authorized to perform: ssm:${action} on resource: arn:aws:ssm:eu-central-1:123456789012:parameter${denied} because no identity-based policy allows the ssm:${action} action`,
  );
}

function byName(a: { readonly Name: string }, b: { readonly Name: string }): number {
  return a.Name < b.Name ? -1 : 1;
}
