/** The commands that replace a credential that the stack does not manage. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { PoolAuth, PoolConfig, SecretRef } from '../../lambda/decision/model/config.ts';
import {
  createKeyCommand,
  createTokenCommand,
  newKeyCommand,
  newTokenCommand,
  putVariableCommand,
} from '../shared/credential-commands.ts';

type OwnAuth = Exclude<PoolAuth, { readonly kind: 'managed' }>;

/** What to do, as an instruction and the command. `now` makes the name of the new key. */
export function replaceByHand(pool: PoolConfig, auth: OwnAuth, now: EpochMs): string {
  // A name can be used once, and the old key still has the other one.
  const dated = `${pool.name}-${new Date(now).toISOString().slice(0, 10)}`;
  const { instruction, command } = stepsFor({ ...pool, name: dated }, auth);
  const last = auth.kind === 'psk' ? '' : ` ${DELETE}`;
  return `${instruction}:\n\n${command}\n\n${AFTERWARDS}${last}`;
}

const AFTERWARDS = 'New tasks get the new value. The autoscaler replaces the others, a share at a time.';
const DELETE =
  'Delete the old one in coderd once no task uses it: autoscaler keys list shows the use of keys';

type Steps = { readonly instruction: string; readonly command: string };
type New = Pick<PoolConfig, 'organization' | 'tags'> & { readonly name: string };

function stepsFor(wanted: New, { kind, secret: ref }: OwnAuth): Steps {
  const { secret, jsonKey } = ref;
  switch (kind) {
    case 'key':
      return jsonKey === undefined
        ? {
            instruction: `Create a key of another name and store it. ${needing('an owner')}`,
            command: newKeyCommand(wanted, secret),
          }
        : { instruction: intoField('Create a key of another name', ref), command: createKeyCommand(wanted) };
    case 'token':
      return jsonKey === undefined
        ? {
            instruction: `Create another token and store it. ${needing('the user of the token')}`,
            command: newTokenCommand(wanted.name, secret),
          }
        : { instruction: intoField('Create another token', ref), command: createTokenCommand(wanted) };
    case 'psk':
      return {
        instruction: `Restart coderd with another ${PSK}. Then store ${jsonKey === undefined ? 'it' : `a JSON object with it in the field "${jsonKey}"`}, from a variable of your shell`,
        command: putVariableCommand(jsonKey === undefined ? PSK : 'NEW_VALUE', secret),
      };
    default:
      return kind satisfies never;
  }
}

const PSK = 'CODER_PROVISIONER_DAEMON_PSK';

const needing = (user: string): string => `You need coder, signed in as ${user}, and aws`;

/** The secret may have other fields, so no command stores it. */
function intoField(what: string, { secret, jsonKey }: SecretRef): string {
  return `${what}, and put it into the field "${jsonKey}" of the JSON object in secret "${secret}"`;
}
