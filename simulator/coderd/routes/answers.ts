/** Answers that several routes of coderd give. */

import { uuidFlaw } from '../rules/uuids.ts';
import type { ValidationError } from './parameters.ts';

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
