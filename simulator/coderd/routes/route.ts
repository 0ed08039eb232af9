import type { CoderdModel } from '../model.ts';
import type { Organization } from '../tables/organizations.ts';
import type { TokenUser } from '../tables/tokens.ts';
import type { Answer } from './answers.ts';
import type { QueryParameters } from './parameters.ts';

/** A request of a signed-in user. */
export type UserRequest = {
  readonly model: CoderdModel;
  readonly user: TokenUser;
  readonly parameters: QueryParameters;
  readonly rest: readonly string[];
  readonly body: string;
};

/** A request of a signed-in user about an organization. */
export type OrganizationRequest = UserRequest & { readonly organization: Organization };

export type Method = 'GET' | 'POST' | 'DELETE';

export type Route = {
  readonly method: Method;
  readonly handle: (request: UserRequest) => Answer;
};
