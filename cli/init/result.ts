/** The result of `autoscaler init`, as `--json` prints it. */
import { KEYS_USER, keyCommand, tokenCommand } from '../shared/credential-commands.ts';
import type { Draft, DraftPool } from './draft.ts';
import { type CoderSettings, type InitOptions, KEY_TOKEN_SECRET } from './inputs.ts';
import type { SecretStates } from './secret-states.ts';
import { type Account, releaseOf } from './survey.ts';

export type InitResult = {
  /** The version of this format. */
  readonly version: 1;
  readonly file: string;
  readonly coderd: { readonly url: string; readonly version: string; readonly user: string };
  readonly pools: readonly DraftPool[];
  /** What the pools do not cover. */
  readonly notes: readonly string[];
  /** They create the secrets that are missing or could not be checked. */
  readonly commands: readonly string[];
  readonly uncheckedSecrets: readonly string[];
  /** Why no secret could be checked. */
  readonly secretsError?: string;
  readonly firstDeployment: { readonly tasks: number; readonly vcpu: number };
};

/** The secrets that the configuration names. */
export function secretsOf(coder: CoderSettings, { pools }: Draft): readonly string[] {
  const keys = pools.map(({ key }) => key ?? KEY_TOKEN_SECRET);
  return [...new Set([coder.token.secret, ...keys])];
}

/** The default of `cpu`. */
const VCPU_OF_A_TASK = 1;

export function resultOf(done: {
  readonly options: InitOptions;
  readonly coder: CoderSettings;
  readonly account: Account;
  readonly draft: Draft;
  readonly states: SecretStates;
  readonly hasToken: boolean;
}): InitResult {
  const { options, coder, account, draft, states, hasToken } = done;
  const isOpen = (secret: string): boolean => states.missing.has(secret) || states.unknown.has(secret);
  const { user } = account;
  const { secret } = coder.token;
  const isManaged = draft.pools.some(({ key }) => key === undefined);
  return {
    version: 1,
    file: options.config,
    coderd: { url: coder.url, version: account.version, user: user.name },
    pools: draft.pools,
    notes: [
      ...(user.isOwner ? [ownerNote(user.name)] : []),
      ...(releaseOf(account.version) === undefined ? [imageNote(account.version)] : []),
      ...draft.notes,
    ],
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

const imageNote = (version: string): string =>
  `coderd's version ${version} is no release, so the pools have the default image. Set defaults.image to an image of your version`;

export const ownerNote = (name: string): string =>
  `User "${name}" is an owner. That is enough for this command. For the autoscaler create a token of a user with the organization template admin role (docs/deploy.md): a token of an owner may do everything and expires after 7 days by default`;
