/** Finds the credentials of coderd that are on this machine (docs/internals/coder.md §9). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import type { Seen } from './situation.ts';

export type Session = { readonly url: string; readonly token: Secret };

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The session of CODER_URL and CODER_SESSION_TOKEN, or else that of `coder login`. `url`: the coderd
 * that is meant. A token from the file is for the URL beside it only.
 */
export function findSession(url: string | undefined, environment: Variables): Seen<Session> {
  const folder = configFolder(environment);
  const login = { url: textOf(folder, 'url'), token: textOf(folder, 'session') };
  const meant = withoutSlash(url ?? environment.CODER_URL?.trim() ?? login.url ?? '');
  if (meant === '')
    return {
      problem:
        'no URL of coderd is known. Run: coder login https://coder.example.com. Or set CODER_URL and CODER_SESSION_TOKEN',
    };
  const isOwn = withoutSlash(login.url ?? '') === meant;
  const token = environment.CODER_SESSION_TOKEN?.trim() || (isOwn ? login.token : undefined);
  if (token !== undefined) return { value: { url: meant, token: new Secret(token) } };
  return {
    problem: `nobody is signed in to ${meant}. Run: coder login ${meant}. If coder keeps its token in the keyring, run: export CODER_SESSION_TOKEN="$(coder login token)"`,
  };
}

/** Where the command `coder` keeps its files. */
function configFolder({ CODER_CONFIG_DIR, XDG_CONFIG_HOME, APPDATA, HOME = '' }: Variables): string {
  if (CODER_CONFIG_DIR) return CODER_CONFIG_DIR;
  if (process.platform === 'darwin') return join(HOME, 'Library', 'Application Support', 'coderv2');
  if (process.platform === 'win32') return join(APPDATA ?? '', 'coderv2');
  return join(XDG_CONFIG_HOME || join(HOME, '.config'), 'coderv2');
}

function textOf(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
