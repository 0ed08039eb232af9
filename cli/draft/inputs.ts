/** The answers that `autoscaler setup --draft` needs before it reads anything: flags and environment. */
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { checkConfig } from '../../lambda/config/check.ts';
import { describeReadError } from '../../lambda/config/load.ts';
import { ConfigError } from '../../lambda/config/problems/problems.ts';
import { ownValue } from '../../lambda/decision/model/collections.ts';
import { type CliEnvironment, InputError, UsageError } from '../shared/cli-environment.ts';

export type DraftOptions = {
  readonly url?: string;
  readonly tokenSecret?: string;
  readonly organization?: readonly string[];
  /** The name of the stack. The pools' names then have that of their organization: other stacks may have the same tags. */
  readonly stack?: string;
  /** Undefined: managed keys. */
  readonly keyPrefix?: string;
  readonly proxy?: string;
  readonly caBundle?: string;
  readonly config: string;
  readonly json: boolean;
};

export type CoderSettings = {
  readonly url: string;
  readonly token: { readonly secret: string };
  readonly proxy?: string;
  readonly caBundle?: string;
};

type Inputs = {
  readonly coder: CoderSettings;
  readonly caBundle: string | undefined;
};

export const DEFAULT_TOKEN_SECRET = 'coder/autoscaler-token';
/** The secret with the token of the key function. */
export const KEY_TOKEN_SECRET = 'coder/key-manager-token';

/** Throws UsageError or InputError. */
export function gatherInputs(options: DraftOptions, { environment }: CliEnvironment): Inputs {
  const url = options.url ?? environment.CODER_URL;
  if (url === undefined || url === '')
    throw new UsageError('no URL of coderd given. Add --url https://coder.example.com, or set CODER_URL');
  const secret = options.tokenSecret ?? DEFAULT_TOKEN_SECRET;
  const caBundle = options.caBundle === undefined ? undefined : readBundle(options.caBundle);
  const { proxy, keyPrefix, stack } = options;
  const coder = {
    url: url.replace(/\/+$/, ''),
    token: { secret },
    ...(proxy === undefined ? {} : { proxy }),
    ...(options.caBundle === undefined ? {} : { caBundle: besideConfig(options.caBundle, options.config) }),
  };
  refuseWrong({ coder, keyPrefix, stack });
  return { coder, caBundle };
}

function readBundle(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new InputError(`reading --ca-bundle ${file}: ${describeReadError(cause)}`, { cause });
  }
}

/** In the configuration the path is relative to its file. */
function besideConfig(bundle: string, config: string): string {
  const path = relative(dirname(resolve(config)), resolve(bundle));
  return path.startsWith('.') ? path : `./${path}`;
}

const FLAGS: Readonly<Record<string, string>> = {
  'coder.url': '--url',
  'coder.token.secret': '--token-secret',
  'coder.proxy': '--proxy',
  'coder.caBundle': '--ca-bundle',
  'pools[0].key.secret': '--key-prefix',
  'aws.stack': '--stack',
};

type Checked = {
  readonly coder: CoderSettings;
  readonly keyPrefix: string | undefined;
  readonly stack: string | undefined;
};

/** Before the first request: a token that was pasted as the name of its secret must not travel. */
function refuseWrong({ coder, keyPrefix = 'coder/keys', stack }: Checked): void {
  const pool = { name: 'pool', organization: 'default', key: { secret: `${keyPrefix}/pool` } };
  try {
    checkConfig({ coder, pools: [pool], aws: { stack } });
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const problems = cause.problems.map(
      ({ path, message }) => `${ownValue(FLAGS, path) ?? path}: ${message}`,
    );
    throw new UsageError(problems.join('\n'), { cause });
  }
}
