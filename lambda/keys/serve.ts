/** Serves one event of the key function. */
import type { Config } from '../decision/model/config.ts';
import type { KeysAnswer, ResourceAnswer } from './model/events.ts';
import { type KeyEvent, keyEventSchema } from './model/events.ts';
import { KeysError } from './model/keys-error.ts';
import type { ManagedPool } from './model/pool.ts';
import type { KeyPorts } from './model/ports.ts';
import { serveResource } from './steps/resource.ts';
import { serveRotation } from './steps/rotation.ts';
import { check, sweep } from './steps/sweep.ts';

/** Throws KeysError, with code `payload` for an event that is none. Rotation steps return nothing. */
export async function serveKeyEvent(
  given: unknown,
  ports: KeyPorts,
  pools: readonly ManagedPool[],
): Promise<ResourceAnswer | KeysAnswer | undefined> {
  const event = parseEvent(given);
  if ('RequestType' in event) return serveResource(ports, event);
  if ('sweep' in event) return sweep(ports, pools);
  if ('check' in event) return check(ports, pools);
  await serveRotation(ports, event, pools);
  return undefined;
}

export function managedPoolsOf({ coder, pools }: Pick<Config, 'coder' | 'pools'>): readonly ManagedPool[] {
  return pools
    .filter(({ auth }) => auth.kind === 'managed')
    .map(({ name, organization, tags }) => ({ name, coderUrl: coder.url, organization, tags }));
}

/** The message does not repeat values: an event of a rotation could contain more than we know. */
function parseEvent(given: unknown): KeyEvent {
  const parsed = keyEventSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const isObject = typeof given === 'object' && given !== null;
  const seen = isObject
    ? `an object with ${Object.keys(given).slice(0, 10).join(', ') || 'nothing'}`
    : typeof given;
  throw new KeysError(
    'payload',
    `reading the event: saw ${seen}. Send {"sweep":true} or {"check":true}; CloudFormation and Secrets Manager send the others`,
  );
}
