/** Reads secret values from Secrets Manager and caches them for 5 minutes. Errors never contain a value. */
import { SecretsProvider } from '@aws-lambda-powertools/parameters/secrets';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { ownValue } from '../../decision/model/collections.ts';
import type { SecretRef } from '../../decision/model/config.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import { parseQuietly } from '../../decision/model/parse-quietly.ts';
import { mapping } from '../../shared/mapping.ts';
import { Secret } from '../shared/secret.ts';

const MAX_AGE_S = 300;

/** Secrets Manager did not return the secret, or its value does not have the configured form. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
  /** `unreachable`: Region, credentials or network of this machine are missing, so no secret is readable. */
  readonly code: 'denied' | 'missing' | 'unreachable' | 'unreadable';
  constructor(message: string, options: ErrorOptions & { readonly code?: SecretError['code'] } = {}) {
    super(message, options);
    this.code = options.code ?? 'unreadable';
  }
}

export class Secrets {
  readonly #provider: SecretsProvider;

  constructor(client: SecretsManagerClient) {
    this.#provider = new SecretsProvider({ awsSdkV3Client: client });
  }

  /** Reads one value without white space around it; `fresh` bypasses the cache. Throws SecretError. */
  async read(ref: SecretRef, { fresh = false }: { readonly fresh?: boolean } = {}): Promise<Secret> {
    return new Secret((await this.#read(ref, fresh)).trim());
  }

  /** As ECS gives it to a container: with white space around it. Throws SecretError. */
  async readAsStored(ref: SecretRef): Promise<Secret> {
    return new Secret(await this.#read(ref, false));
  }

  async #read(ref: SecretRef, fresh: boolean): Promise<string> {
    const text = await this.#fetch(ref.secret, fresh);
    const value = ref.jsonKey === undefined ? text : pickKey(text, ref, ref.jsonKey);
    if (value.trim() === '')
      throw new SecretError(`reading secret "${ref.secret}": the secret is empty; store the value in it`);
    return value;
  }

  async #fetch(name: string, fresh: boolean): Promise<string> {
    try {
      const value = await this.#provider.get(name, { maxAge: MAX_AGE_S, forceFetch: fresh });
      if (typeof value === 'string') return value;
    } catch (cause) {
      if (quotesAnswer(cause))
        throw new SecretError(
          `reading secret "${name}": the answer of Secrets Manager is no JSON; try again`,
        );
      const said = messageOf(cause).replace(/\.$/, '');
      const own = adviceForMachine(cause);
      const code = codeOf(cause) ?? (own === undefined ? 'unreadable' : 'unreachable');
      const advice = own ?? (code === 'missing' ? ADVICE_IF_MISSING : ADVICE);
      throw new SecretError(`reading secret "${name}": ${said}; ${advice}`, { cause, code });
    }
    throw new SecretError(
      `reading secret "${name}": the secret has no string value; store the value as a string`,
    );
  }
}

/** The parser's message quotes the answer, which contains the value. The provider wraps it. */
function quotesAnswer(cause: unknown): boolean {
  return cause instanceof SyntaxError || (cause instanceof Error && cause.cause instanceof SyntaxError);
}

/** The provider wraps the SDK's error. */
function codeOf(cause: unknown): 'denied' | 'missing' | undefined {
  const inner = cause instanceof Error ? cause.cause : undefined;
  const name = inner instanceof Error ? inner.name : '';
  if (name === 'AccessDeniedException') return 'denied';
  return name === 'ResourceNotFoundException' ? 'missing' : undefined;
}

const ADVICE_IF_MISSING = 'create it with its value, or correct its name in the configuration';
const ADVICE = 'check that it exists and that the role may call secretsmanager:GetSecretValue on it';

/** Advice if Region, credentials or network are missing. Other errors concern the secret. */
function adviceForMachine(cause: unknown): string | undefined {
  const said = String(cause instanceof Error ? (cause.cause ?? cause) : cause);
  if (/region (?:is missing|not accepted)/i.test(said)) return 'set AWS_REGION';
  if (/[Tt]imeout|timed out|\b(?:ENOTFOUND|ECONN[A-Z]+|EAI_AGAIN)\b/.test(said))
    return 'AWS did not answer; check the network (VPN, proxy, VPC endpoint)';
  if (/credential|security token|ExpiredToken|UnrecognizedClient/i.test(said))
    return 'sign in to AWS, or set AWS_PROFILE';
  return undefined;
}

const jsonObject = mapping(z.string(), z.unknown());

/** Drops the parser's error, because it would quote the secret. */
function pickKey(text: string, { secret }: SecretRef, key: string): string {
  const fields = jsonObject.safeParse(parseQuietly(text));
  if (!fields.success)
    throw new SecretError(
      `reading secret "${secret}": it is not a JSON object, so it has no key "${key}"; store a JSON object, or remove jsonKey`,
    );
  const value = ownValue(fields.data, key);
  if (typeof value === 'string') return value;
  const keys = Object.keys(fields.data).join(', ') || 'none';
  throw new SecretError(
    `reading secret "${secret}": the key "${key}" has no string value; the keys in the secret: ${keys}`,
  );
}
