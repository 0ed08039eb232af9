/** The commands that replace a credential that the stack does not manage. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { PoolAuth, PoolConfig, SecretRef } from '../../lambda/decision/model/config.ts';
import { newKeyCommand, newTokenCommand, putVariableCommand } from '../shared/credential-commands.ts';

export type OwnAuth = Exclude<PoolAuth, { readonly kind: 'managed' }>;

/** What to do, as an instruction and the command. `now` makes the name of the new key. */
export function replaceByHand(pool: PoolConfig, auth: OwnAuth, now: EpochMs): string {
  const { instruction, command } = stepsFor(pool, auth, now);
  return `${instruction}${jsonNote(auth.secret)}:\n\n${command}\n\n${AFTERWARDS}`;
}

const AFTERWARDS =
  'New tasks get the new value. The autoscaler replaces the others, a share at a time. Delete the old credential in coderd once autoscaler keys list shows that nothing uses it';

type Steps = { readonly instruction: string; readonly command: string };

function stepsFor({ name, organization, tags }: PoolConfig, auth: OwnAuth, now: EpochMs): Steps {
  const { secret } = auth.secret;
  // A name can be used once, and the old key still has the other one.
  const dated = `${name}-${new Date(now).toISOString().slice(0, 10)}`;
  switch (auth.kind) {
    case 'key':
      return {
        instruction:
          'Create a key of another name and store it. You need coder, signed in as an owner, and aws',
        command: newKeyCommand({ name: dated, organization, tags }, secret),
      };
    case 'token':
      return {
        instruction:
          'Create another token and store it. You need coder, signed in as the user of the token, and aws',
        command: newTokenCommand(dated, secret),
      };
    case 'psk':
      return {
        instruction:
          'Restart coderd with another CODER_PROVISIONER_DAEMON_PSK. Then store the same value, from a variable of your shell',
        command: putVariableCommand('CODER_PROVISIONER_DAEMON_PSK', secret),
      };
    default:
      return auth satisfies never;
  }
}

function jsonNote({ secret, jsonKey }: SecretRef): string {
  if (jsonKey === undefined) return '';
  return `. Secret "${secret}" is a JSON object: do not store the value alone, as this command does, but as its field "${jsonKey}"`;
}
