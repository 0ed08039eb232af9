/**
 * The state of the KMS keys: that of the deployment (aws.kmsKey), and those of the secrets that the function and
 * the tasks read. A disabled key refuses to decrypt.
 */
import { DescribeKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { DescribeSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type Deployment, secretsOf } from '../../../lambda/config/rules/deployment.ts';
import { few, some } from '../../../lambda/explain/format.ts';
import { quoted } from '../../shared/shell-words.ts';
import { type Check, fail, ok } from '../check/check.ts';
import { CLIENT, isMissing, tryRead } from './reading.ts';

const NAME = 'KMS keys';

/** What a key encrypts, as text. */
type Uses = ReadonlyMap<string, readonly string[]>;

export async function checkKmsKeys(config: Deployment, until: AbortSignal): Promise<readonly Check[]> {
  const secrets = new SecretsManagerClient(CLIENT);
  const kms = new KMSClient(CLIENT);
  try {
    const reads = await keysOfSecrets(config, secrets, until);
    const unread = reads.flatMap(({ secret, read }) =>
      'check' in read ? [{ secret, check: read.check }] : [],
    );
    const keys = reads.flatMap(({ secret, read }) =>
      'value' in read && read.value !== undefined ? [{ secret, key: read.value }] : [],
    );
    const uses = usesOf(config, keys);
    const checks = await Promise.all([...uses].map(([key, used]) => checkKey(kms, { key, used, until })));
    const problems = [
      ...unreadLine(unread),
      ...mergeNotLooked(checks.filter((check) => check !== undefined)),
    ];
    if (problems.length > 0) return problems;
    return uses.size === 0 ? [] : [ok(NAME, `${some(uses.size, 'key')}, enabled`)];
  } finally {
    kms.destroy();
    secrets.destroy();
  }
}

type SecretKey = { readonly secret: string; readonly key: string };

type Unread = { readonly secret: string; readonly check: Check };

/** One line, however many secrets the person may not look at. */
function unreadLine(unread: readonly Unread[]): readonly Check[] {
  const [first] = unread;
  if (first === undefined) return [];
  const secrets = few([...new Set(unread.map(({ secret }) => `"${secret}"`))]);
  return [{ ...first.check, says: `${first.check.says} (secrets ${secrets})` }];
}

/** The key of each secret. Undefined: AWS's own, which cannot be disabled, or there is no such secret. */
async function keysOfSecrets(
  { coder, managedKeys, pools }: Deployment,
  client: SecretsManagerClient,
  until: AbortSignal,
) {
  const refs = [coder.token, ...(managedKeys === undefined ? [] : [managedKeys.token]), ...secretsOf(pools)];
  const names = [...new Set(refs.map(({ secret }) => secret))];
  const asked = { name: NAME, permission: 'secretsmanager:DescribeSecret', until };
  return Promise.all(
    names.map(async (secret) => {
      const read = await tryRead(asked, async (options): Promise<string | undefined> => {
        try {
          return (await client.send(new DescribeSecretCommand({ SecretId: secret }), options)).KmsKeyId;
        } catch (cause) {
          // another check reports a missing secret
          if (isMissing(cause)) return undefined;
          throw cause;
        }
      });
      return { secret, read };
    }),
  );
}

function usesOf({ aws }: Deployment, keys: readonly SecretKey[]): Uses {
  const own =
    aws.kmsKey === undefined
      ? []
      : [
          {
            key: aws.kmsKey,
            use: "the function's settings, its schedule and queue, the logs and the alarms",
          },
        ];
  const all = [...own, ...keys.map(({ secret, key }) => ({ key, use: `secret "${secret}"` }))];
  const byKey = Map.groupBy(all, ({ key }) => key);
  return new Map([...byKey].map(([key, rows]) => [key, rows.map(({ use }) => use)] as const));
}

async function checkKey(
  client: KMSClient,
  {
    key,
    used,
    until,
  }: { readonly key: string; readonly used: readonly string[]; readonly until: AbortSignal },
): Promise<Check | undefined> {
  const read = await tryRead({ name: NAME, permission: 'kms:DescribeKey', until }, async (options) => {
    try {
      return (await client.send(new DescribeKeyCommand({ KeyId: key }), options)).KeyMetadata?.KeyState;
    } catch (cause) {
      if (isMissing(cause)) return 'missing';
      throw cause;
    }
  });
  if ('check' in read) return read.check;
  const state = read.value;
  if (state === undefined || state === 'Enabled') return undefined;
  const ends = `so nothing can decrypt ${few(used)}, and no alarm rings for it if the key is that of the alarms`;
  return fail(NAME, `${key} is ${state}, ${ends}. ${adviceFor(key, state)}`);
}

function adviceFor(key: string, state: string): string {
  const enable = `aws kms enable-key --key-id ${quoted(key)}`;
  if (state === 'PendingDeletion')
    return `Run: aws kms cancel-key-deletion --key-id ${quoted(key)} && ${enable}`;
  return state === 'Disabled' ? `Run: ${enable}` : 'Name another key, and store the secrets anew';
}

/** One line for a missing permission, however many keys there are. */
function mergeNotLooked(checks: readonly Check[]): readonly Check[] {
  return [...new Map(checks.map((check) => [`${check.status} ${check.says}`, check])).values()];
}
