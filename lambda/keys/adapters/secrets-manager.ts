/** The secrets of managed keys (docs/internals/aws.md §4). Errors never contain a value. */
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
  PutSecretValueCommand,
  type SecretListEntry,
  type SecretsManagerClient,
  TagResourceCommand,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { readPages } from '../../adapters/shared/pages.ts';
import { Secret } from '../../adapters/shared/secret.ts';
import type { EpochMs } from '../../decision/model/brands.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import { POOL_TAG, STACK_TAG } from '../../decision/model/service-tags.ts';
import { KeysError } from '../model/keys-error.ts';
import type { KeySecrets, SecretInfo } from '../model/ports.ts';

const PAGE = 100;

export class SecretsManagerKeys implements KeySecrets {
  readonly #client: Pick<SecretsManagerClient, 'send'>;

  constructor(client: Pick<SecretsManagerClient, 'send'>) {
    this.#client = client;
  }

  describe(id: string): Promise<SecretInfo> {
    return calling('DescribeSecret', id, async () => {
      const answer = await this.#client.send(new DescribeSecretCommand({ SecretId: id }));
      if (answer.DeletedDate !== undefined) throw gone(id, 'it is scheduled for deletion');
      return infoOf(answer, answer.VersionIdsToStages ?? {});
    });
  }

  async value(id: string, version: string): Promise<Secret | undefined> {
    return calling('GetSecretValue', id, async () => {
      try {
        const command = new GetSecretValueCommand({ SecretId: id, VersionId: version });
        return new Secret((await this.#client.send(command)).SecretString ?? '');
      } catch (cause) {
        if (nameOf(cause) === 'ResourceNotFoundException') return undefined;
        if (!(cause instanceof SyntaxError)) throw cause;
        // The parser's message quotes the answer, which contains the key.
        throw new KeysError('unanswered', `calling GetSecretValue of secret ${id}: the answer is no JSON`);
      }
    });
  }

  async put(
    id: string,
    { token, value, stage }: { readonly token: string; readonly value: Secret; readonly stage: string },
  ): Promise<'stored' | 'exists'> {
    return calling('PutSecretValue', id, async () => {
      try {
        const version = { ClientRequestToken: token, VersionStages: [stage] };
        const request = { SecretId: id, SecretString: value.reveal(), ...version };
        await this.#client.send(new PutSecretValueCommand(request));
        return 'stored';
      } catch (cause) {
        if (nameOf(cause) === 'ResourceExistsException') return 'exists';
        if (GONE.has(nameOf(cause))) throw gone(id, nameOf(cause));
        // The message of an error about the request's fields could repeat the value.
        throw new KeysError(
          codeOf(cause),
          `calling PutSecretValue of secret ${id}: ${nameOf(cause)}; ${advice('PutSecretValue')}`,
        );
      }
    });
  }

  move(
    id: string,
    { stage, to, from }: { readonly stage: string; readonly to: string; readonly from?: string | undefined },
  ): Promise<void> {
    return calling('UpdateSecretVersionStage', id, async () => {
      const label = { VersionStage: stage, MoveToVersionId: to, RemoveFromVersionId: from };
      await this.#client.send(new UpdateSecretVersionStageCommand({ SecretId: id, ...label }));
    });
  }

  tag(id: string, tags: Readonly<Record<string, string>>): Promise<void> {
    return calling('TagResource', id, async () => {
      const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
      await this.#client.send(new TagResourceCommand({ SecretId: id, Tags }));
    });
  }

  ofStack(stack: string): Promise<readonly SecretInfo[]> {
    return calling('ListSecrets', `of stack ${stack}`, async () => {
      const entries = await this.#listAll(stack);
      return entries
        .map((entry) => infoOf(entry, entry.SecretVersionsToStages ?? {}))
        .filter(({ tags }) => tags[STACK_TAG] === stack && tags[POOL_TAG] !== undefined);
    });
  }

  /** The filter matches beginnings, so it also finds secrets of stacks with longer names. */
  async #listAll(stack: string): Promise<readonly SecretListEntry[]> {
    const Filters = [
      { Key: 'tag-key' as const, Values: [STACK_TAG] },
      { Key: 'tag-value' as const, Values: [stack] },
    ];
    const { items, incomplete } = await readPages('ListSecrets', async (NextToken) => {
      const command = new ListSecretsCommand({ Filters, MaxResults: PAGE, NextToken });
      const answer = await this.#client.send(command);
      return { items: answer.SecretList ?? [], next: answer.NextToken };
    });
    if (incomplete === undefined) return items;
    throw new KeysError('unanswered', `listing the secrets of stack ${stack}: ${incomplete}`);
  }
}

function infoOf(
  given: Pick<SecretListEntry, 'ARN' | 'Name' | 'Tags' | 'LastChangedDate' | 'CreatedDate'>,
  stages: Readonly<Record<string, readonly string[]>>,
): SecretInfo {
  const { ARN = '', Name = '', Tags = [], LastChangedDate, CreatedDate } = given;
  // Without a time of the last change, now is the only safe bound.
  const changedAt = (LastChangedDate ?? CreatedDate)?.getTime() ?? Number.MAX_SAFE_INTEGER;
  return {
    id: ARN,
    name: Name,
    tags: Object.fromEntries(Tags.map(({ Key = '', Value = '' }) => [Key, Value])),
    versions: Object.entries(stages).map(([id, labels]) => ({ id, stages: labels })),
    changedAt: changedAt as EpochMs,
  };
}

/** Names of errors of a secret that is deleted, or scheduled for it. */
const GONE: ReadonlySet<string> = new Set(['ResourceNotFoundException', 'InvalidRequestException']);

/** The SDK's errors do not repeat the request; the message is AWS's. */
async function calling<T>(operation: string, id: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof KeysError) throw cause;
    if (GONE.has(nameOf(cause))) throw gone(id, messageOf(cause), cause);
    const message = `calling ${operation} of secret ${id}: ${messageOf(cause)}; ${advice(operation)}`;
    throw new KeysError(codeOf(cause), message, { cause });
  }
}

/** Only an answer of AWS proves that nothing was done. */
function codeOf(cause: unknown): 'secret' | 'unanswered' {
  return cause instanceof Error && '$fault' in cause && cause.$fault === 'client' ? 'secret' : 'unanswered';
}

function advice(operation: string): string {
  return `check that the role of the key function may call secretsmanager:${operation}`;
}

function gone(id: string, said: string, cause?: unknown): KeysError {
  return new KeysError('secret-gone', `using secret ${id}: ${said}`, { cause });
}

function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : '';
}
