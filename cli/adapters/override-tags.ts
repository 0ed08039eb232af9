/** Overrides as tags on a pool's ECS service. Only the command line writes them: the function may not. */
import { type ECSClient, TagResourceCommand, UntagResourceCommand } from '@aws-sdk/client-ecs';
import type { ServiceArn } from '../../lambda/decision/model/brands.ts';
import type { Override, OverrideKind } from '../../lambda/decision/model/plan.ts';
import { tagKeysOf, tagsOfOverride } from '../../lambda/decision/settings/overrides.ts';
import { AwsCallError } from './aws-call-error.ts';

export class OverrideTags {
  readonly #client: ECSClient;

  constructor(client: ECSClient) {
    this.#client = client;
  }

  /** All fields go in one call, so a look never sees half an override. Throws AwsCallError. */
  async write(service: ServiceArn, override: Override): Promise<void> {
    const tags = Object.entries(tagsOfOverride(override)).map(([key, value]) => ({ key, value }));
    await changing(service, 'ecs:TagResource', () =>
      this.#client.send(new TagResourceCommand({ resourceArn: service, tags })),
    );
  }

  /** Removes overrides of these kinds. Succeeds if there are none. Throws AwsCallError. */
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
    throw AwsCallError.of(cause, `changing the tags of service ${service}`, `${permission} on ${service}`);
  }
}
