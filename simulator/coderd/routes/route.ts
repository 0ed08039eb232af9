import type { CoderdModel } from '../model.ts';
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

export type Route = {
  readonly method: 'GET' | 'POST';
  readonly handle: (request: UserRequest) => Answer;
};
