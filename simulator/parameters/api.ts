import { z } from 'zod';
import { AwsError } from '../ecs/requests/errors.ts';
import type { ParametersModel } from './model.ts';

const getParametersRequest = z.object({ Names: z.array(z.string().min(1)).min(1).max(10) });

/** Calls one operation of Systems Manager by its name. The role may call only GetParameters. */
export function callSystemsManager(model: ParametersModel, name: string, body: unknown): object {
  if (name !== 'GetParameters')
    throw new AwsError('AccessDeniedException', `not authorized to perform: ssm:${name}`);
  const request = getParametersRequest.safeParse(body);
  if (!request.success) throw new AwsError('ValidationException', z.prettifyError(request.error));
  return getParameters(model, request.data.Names);
}

/**
 * One denied name refuses the whole request. Missing names are in the answer. The others come in
 * alphabetical order (docs/aws.md §4).
 */
function getParameters(model: ParametersModel, names: readonly string[]) {
  const denied = names.find((name) => model.isDenied(name));
  if (denied !== undefined)
    throw new AwsError(
      'AccessDeniedException',
      `User: arn:aws:sts::123456789012:assumed-role/somebody/session is not authorized to perform: ssm:GetParameters on resource: arn:aws:ssm:eu-central-1:123456789012:parameter${denied} because no identity-based policy allows the ssm:GetParameters action`,
    );
  const found = names.flatMap((Name) => {
    const Value = model.find(Name);
    return Value === undefined ? [] : [{ Name, Value, Type: 'String' }];
  });
  return {
    Parameters: found.sort(byName),
    InvalidParameters: names.filter((name) => model.find(name) === undefined),
  };
}

function byName(a: { readonly Name: string }, b: { readonly Name: string }): number {
  return a.Name < b.Name ? -1 : 1;
}
