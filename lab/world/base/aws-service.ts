/** What the simulated AWS services have in common: errors, operations and pages. */
import { z } from 'zod';
import { ownValue } from '../../../lambda/decision/model/collections.ts';

/** An error answer of an AWS service: HTTP 400 with a type and a message. */
export class AwsError extends Error {
  override readonly name = 'AwsError';
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

export const invalidParameter = (message: string): AwsError =>
  new AwsError('InvalidParameterException', message);

/** The role of the autoscaler and its tasks, that of the key function, a person, one without rights. */
export type Caller = 'autoscaler' | 'keys' | 'person' | 'guest';

export const EVERYBODY: readonly Caller[] = ['autoscaler', 'keys', 'person'];

export type AwsOperation<Model> = {
  readonly callers: readonly Caller[];
  /** The request's body to the answer's body. Throws AwsError. */
  readonly run: (model: Model, body: unknown) => object;
};

export type AwsRequest = {
  /** Of the operation. */
  readonly name: string;
  readonly body: unknown;
  /** @default 'autoscaler' */
  readonly caller?: Caller;
};

/** The operations of a service by name. */
export type AwsService<Model> = {
  /** Its prefix in the actions of IAM. */
  readonly service: string;
  readonly operations: Readonly<Record<string, AwsOperation<Model>>>;
  /** The faults that hold for any operation. Throws AwsError. @default none */
  readonly refuse?: (model: Model, request: Required<AwsRequest>) => void;
  /** The lists that never end, and the field of their token. @default none */
  readonly endless?: {
    readonly token: 'nextToken' | 'NextToken';
    readonly of: (model: Model, operation: string) => Endless | undefined;
  };
};

/** How a list goes on after its last page: from its first page, with the same token each time or with new ones. */
export type Endless = 'same-token' | 'new-token';

/** Makes the operations of a service. `misfit`: the type of the error if a request does not fit. */
export function operationsFor<Model>(misfit: string) {
  return <T extends z.ZodType>(
    callers: readonly Caller[],
    schema: T,
    run: (model: Model, request: z.output<T>) => object,
  ): AwsOperation<Model> => ({
    callers,
    run: (model, body) => {
      const request = schema.safeParse(body);
      if (!request.success) throw new AwsError(misfit, z.prettifyError(request.error));
      return run(model, request.data);
    },
  });
}

/** Every call of AWS in the world, over HTTP or in process. Throws AwsError. */
export function callService<Model>(
  { service, operations, refuse, endless }: AwsService<Model>,
  model: Model,
  { name, body, caller = 'autoscaler' }: AwsRequest,
): object {
  const operation = ownValue(operations, name);
  if (operation === undefined || !operation.callers.includes(caller))
    throw accessDenied(`${service}:${name}`, { caller });
  refuse?.(model, { name, body, caller });
  const kind = endless?.of(model, name);
  if (endless === undefined || kind === undefined) return operation.run(model, body);
  return pageWithoutEnd(body, { kind, token: endless.token, run: (from) => operation.run(model, from) });
}

const ROUND = 'round ';

function pageWithoutEnd(
  body: unknown,
  given: {
    readonly kind: Endless;
    readonly token: string;
    readonly run: (body: object) => object;
  },
): object {
  const { [given.token]: token, ...request }: Record<string, unknown> = { ...Object(body) };
  const round = typeof token === 'string' && token.startsWith(ROUND) ? Number(token.slice(ROUND.length)) : 0;
  const answer = given.run(
    round === 0 && token !== undefined ? { ...request, [given.token]: token } : request,
  );
  const next = `${ROUND}${given.kind === 'same-token' ? 1 : round + 1}`;
  return { ...answer, [given.token]: Reflect.get(answer, given.token) ?? next };
}

/** `resource`: what the action was for. @default not told */
export function accessDenied(
  action: string,
  { caller = 'somebody', resource }: { readonly caller?: string; readonly resource?: string },
): AwsError {
  const on = resource === undefined ? '' : ` on resource: ${resource}`;
  return new AwsError(
    'AccessDeniedException',
    `User: arn:aws:sts::123456789012:assumed-role/${caller}/session is not authorized to perform: ${action}${on} because no identity-based policy allows the ${action} action`,
  );
}

type PageRequest = { readonly maxResults?: number | undefined; readonly nextToken?: string | undefined };
type Page = { readonly items: readonly string[]; readonly nextToken?: string };

/** Sorted by ARN. The token stands for the last ARN, so none is skipped or repeated when others change. */
export function pageOf(arns: readonly string[], request: PageRequest, size: { fallback: number }): Page {
  const { maxResults = size.fallback, nextToken } = request;
  if (!Number.isInteger(maxResults) || maxResults < 1 || maxResults > 100)
    throw invalidParameter('maxResults must be between 1 and 100.');
  const after = nextToken === undefined ? '' : readToken(nextToken);
  const rest = arns.filter((arn) => arn > after).sort();
  const items = rest.slice(0, maxResults);
  const last = items.at(-1);
  return last === undefined || rest.length <= maxResults ? { items } : { items, nextToken: writeToken(last) };
}

const PREFIX = 'after ';
const writeToken = (arn: string): string => Buffer.from(PREFIX + arn).toString('base64url');

function readToken(token: string): string {
  const text = Buffer.from(token, 'base64url').toString();
  if (!text.startsWith(PREFIX)) throw invalidParameter('Invalid token');
  return text.slice(PREFIX.length);
}
