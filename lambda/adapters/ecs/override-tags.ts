/** Writes overrides as tags on a pool's ECS service: for people at the command line; the function's role may not. */
import { type ECSClient, TagResourceCommand, UntagResourceCommand } from '@aws-sdk/client-ecs';
import type { ServiceArn } from '../../decision/model/brands.ts';
import type { Override, OverrideKind } from '../../decision/model/plan.ts';
import { tagKeysOf, tagsOfOverride } from '../../decision/settings/overrides.ts';

/** The tags of a service could not be changed; nothing of the change was made. */
export class OverrideTagsError extends Error {
  override readonly name = 'OverrideTagsError';
  readonly code: 'forbidden' | 'failed';

  constructor(code: OverrideTagsError['code'], message: string, options: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export class OverrideTags {
  readonly #client: ECSClient;

  constructor(client: ECSClient) {
    this.#client = client;
  }

  /** One call for all fields, so that an override is never seen half: what was there of its kind is replaced. */
  async write(service: ServiceArn, override: Override): Promise<void> {
    const tags = Object.entries(tagsOfOverride(override)).map(([key, value]) => ({ key, value }));
    await changing(service, 'ecs:TagResource', () =>
      this.#client.send(new TagResourceCommand({ resourceArn: service, tags })),
    );
  }

  /** No error where there is none. */
  async remove(service: ServiceArn, kinds: readonly OverrideKind[]): Promise<void> {
    const tagKeys = kinds.flatMap(tagKeysOf);
    await changing(service, 'ecs:UntagResource', () =>
      this.#client.send(new UntagResourceCommand({ resourceArn: service, tagKeys })),
    );
  }
}

async function changing(
  service: ServiceArn,
  permission: string,
  change: () => Promise<unknown>,
): Promise<void> {
  try {
    await change();
  } catch (cause) {
    const isForbidden = cause instanceof Error && cause.name === 'AccessDeniedException';
    const said = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    const message = `changing the tags of service ${service}: ${said}`;
    if (!isForbidden) throw new OverrideTagsError('failed', message, { cause });
    throw new OverrideTagsError('forbidden', `${message}; ask for ${permission} on ${service}`, { cause });
  }
}
