/** Overrides as tags on a pool's ECS service. Only the command line writes them: the function may not. */
import { type ECSClient, TagResourceCommand, UntagResourceCommand } from '@aws-sdk/client-ecs';
import { describeAwsError } from '../../lambda/adapters/shared/aws-calls.ts';
import type { ServiceArn } from '../../lambda/decision/model/brands.ts';
import type { Override, OverrideKind } from '../../lambda/decision/model/plan.ts';
import { tagKeysOf, tagsOfOverride } from '../../lambda/decision/settings/overrides.ts';

/** ECS did not change the tags of a service. The old tags are still there. */
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

  /** All fields go in one call, so a look never sees half an override. Throws OverrideTagsError. */
  async write(service: ServiceArn, override: Override): Promise<void> {
    const tags = Object.entries(tagsOfOverride(override)).map(([key, value]) => ({ key, value }));
    await changing(service, 'ecs:TagResource', () =>
      this.#client.send(new TagResourceCommand({ resourceArn: service, tags })),
    );
  }

  /** Removes overrides of these kinds. Succeeds if there are none. Throws OverrideTagsError. */
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
    const { reason, isForbidden } = describeAwsError(cause);
    const message = `changing the tags of service ${service}: ${reason}`;
    if (!isForbidden) throw new OverrideTagsError('failed', message, { cause });
    throw new OverrideTagsError('forbidden', `${message}; ask for ${permission} on ${service}`, { cause });
  }
}
