import { SecretError, type Secrets } from '../../lambda/adapters/secrets/secrets.ts';
import { KEYS_USER, keyCommand, tokenCommand } from '../shared/credential-commands.ts';
import type { Draft } from './draft.ts';
import { type CoderSettings, KEY_TOKEN_SECRET } from './inputs.ts';
import { type Account, releaseOf } from './survey.ts';

export function secretsOf(coder: CoderSettings, { pools }: Draft): readonly string[] {
  const keys = pools.map(({ key }) => key ?? KEY_TOKEN_SECRET);
  return [...new Set([coder.token.secret, ...keys])];
}

const VCPU_OF_A_TASK = 1;

export function resultOf(
  {
    file,
    coder,
    hasToken,
  }: { readonly file: string; readonly coder: CoderSettings; readonly hasToken: boolean },
  account: Account,
  draft: Draft,
  states: SecretStates,
) {
  const isOpen = (secret: string): boolean => states.missing.has(secret) || states.unknown.has(secret);
  const { user } = account;
  const { secret } = coder.token;
  const isManaged = draft.pools.some(({ key }) => key === undefined);
  return {
    version: 1,
    file,
    coderd: { url: coder.url, version: account.version, user: user.name },
    pools: draft.pools,
    notes: [
      ...(user.isOwner ? [ownerNote(user.name)] : []),
      ...(releaseOf(account.version) === undefined ? [imageNote(account.version)] : []),
      ...draft.notes,
    ],
    /** They create the secrets that are missing or could not be checked. */
    commands: [
      ...(isOpen(secret) ? [tokenCommand(secret, hasToken && !user.isOwner)] : []),
      ...(isManaged && isOpen(KEY_TOKEN_SECRET) ? [tokenCommand(KEY_TOKEN_SECRET, false, KEYS_USER)] : []),
      ...draft.pools.flatMap(({ key, ...pool }) =>
        key !== undefined && isOpen(key) ? [keyCommand({ ...pool, key })] : [],
      ),
    ],
    uncheckedSecrets: [...states.unknown],
    ...(states.error === undefined ? {} : { secretsError: states.error }),
    firstDeployment: { tasks: draft.pools.length, vcpu: draft.pools.length * VCPU_OF_A_TASK },
  };
}

export type DraftResult = ReturnType<typeof resultOf>;

const imageNote = (version: string): string =>
  `coderd's version ${version} is no release, so the pools have the default image. Set defaults.image to an image of your version`;

export const ownerNote = (name: string): string =>
  `User "${name}" is an owner. That is enough for this command. For the autoscaler create a token of a user with the organization template admin role (docs/deploy.md): a token of an owner may do everything and expires after 7 days by default`;

type SecretStates = {
  readonly missing: ReadonlySet<string>;
  /** Secrets whose state is unknown: the caller may not read them, or AWS cannot be reached. */
  readonly unknown: ReadonlySet<string>;
  /** The cause if AWS could not be asked at all. */
  readonly error?: string;
};

type State = 'exists' | 'missing' | 'unknown' | { readonly error: string };

/** Tries the first secret alone: without region or network the others have the same error. */
export async function readSecretStates(secrets: Secrets, names: readonly string[]): Promise<SecretStates> {
  const [first = '', ...others] = names;
  const state = await stateOf(secrets, first);
  if (typeof state === 'object') return { missing: new Set(), unknown: new Set(names), error: state.error };
  const rest = await Promise.all(others.map((name) => stateOf(secrets, name)));
  const states = [state, ...rest];
  const having = (isWanted: (state: State | undefined) => boolean): ReadonlySet<string> =>
    new Set(names.filter((_, index) => isWanted(states[index])));
  return {
    missing: having((each) => each === 'missing'),
    unknown: having((each) => each !== 'missing' && each !== 'exists'),
  };
}

async function stateOf(secrets: Secrets, secret: string): Promise<State> {
  try {
    await secrets.read({ secret });
    return 'exists';
  } catch (cause) {
    if (!(cause instanceof SecretError)) throw cause;
    if (cause.code === 'missing') return 'missing';
    return cause.code === 'unreachable' ? { error: cause.message } : 'unknown';
  }
}
