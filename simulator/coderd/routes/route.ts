import type { CoderdModel } from '../model.ts';
import type { Organization } from '../tables/organizations.ts';
import type { TokenUser } from '../tables/tokens.ts';
import { type QueryParameters, uuidFlaw, type ValidationError } from './parameters.ts';

export type UserRequest = {
  readonly model: CoderdModel;
  readonly user: TokenUser;
  readonly parameters: QueryParameters;
  /** The ids and names in its path, without that of the organization. */
  readonly ids: readonly string[];
  readonly body: string;
};

export type OrganizationRequest = UserRequest & { readonly organization: Organization };

export type Answer = { readonly status: number; readonly body: unknown };

export const NOT_FOUND: Answer = {
  status: 404,
  body: { message: 'Resource not found or you do not have access to this resource' },
};

export function badUuid(text: string): Answer {
  return { status: 400, body: { message: `Invalid UUID "${text}".`, detail: uuidFlaw(text) } };
}

export function invalid(validations: readonly ValidationError[], message: string): Answer {
  return { status: 400, body: { message, validations } };
}
