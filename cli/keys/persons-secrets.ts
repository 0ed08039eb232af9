/**
 * The secrets of managed keys, read with the permissions of the person who runs the command. It
 * refuses every write.
 */
import { isDenied } from '../../lambda/adapters/shared/aws-calls.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { KeysError } from '../../lambda/keys/model/keys-error.ts';
import type { KeySecrets, SecretInfo } from '../../lambda/keys/model/ports.ts';
import { withAdvice } from '../shared/aws-advice.ts';

type Value = Awaited<ReturnType<KeySecrets['value']>>;

export class PersonsSecrets implements KeySecrets {
  readonly #secrets: KeySecrets;

  constructor(secrets: KeySecrets) {
    this.#secrets = secrets;
  }

  describe(id: string): Promise<SecretInfo> {
    return asPerson('DescribeSecret', () => this.#secrets.describe(id));
  }

  value(id: string, version: string): Promise<Value> {
    return asPerson('GetSecretValue', () => this.#secrets.value(id, version));
  }

  ofStack(stack: string): Promise<readonly SecretInfo[]> {
    return asPerson('ListSecrets', () => this.#secrets.ofStack(stack));
  }

  put(): Promise<never> {
    return refuse();
  }

  move(): Promise<never> {
    return refuse();
  }

  tag(): Promise<never> {
    return refuse();
  }
}

async function refuse(): Promise<never> {
  throw new KeysError('secret', 'writing a secret: this command only reads');
}

/** The key function's errors give advice about its role. The person needs the permission here. */
async function asPerson<T>(operation: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (!(cause instanceof KeysError) || cause.code !== 'secret') throw cause;
    const error = cause.cause;
    const says = isDenied(error)
      ? needs(operation, error)
      : withAdvice(`calling ${operation}: ${textOf(error)}`);
    throw new KeysError('secret', says, { cause: error });
  }
}

/** With the name, by which the advice is found. */
function textOf(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${messageOf(cause)}` : messageOf(cause);
}

/** What a person without a permission needs. */
export function needs(operation: string, cause: unknown): string {
  return `calling ${operation}: ${messageOf(cause).replace(/\.$/, '')}. ${NEEDED}${operation} for this`;
}

const NEEDED = 'You need secretsmanager:';

/** Whether a problem is that of the person, and not of the deployment. */
export function isOfPerson(problem: string): boolean {
  return problem.includes(NEEDED);
}
