/** Finds out which of the named secrets exist in Secrets Manager. Keeps no value. */
import { SecretError, type Secrets } from '../../lambda/adapters/secrets/secrets.ts';

export type SecretStates = {
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
