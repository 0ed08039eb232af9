/** The plain variables of `coder provisioner start` that depend on how it authenticates. */
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';

/**
 * A key has its own organization and tags. With a pre-shared key or a user's token the daemon sends
 * the tags, and with a token its organization (docs/internals/coder.md §5).
 */
export function daemonVariables({
  auth,
  organization,
  tags,
}: Pick<PoolConfig, 'auth' | 'organization' | 'tags'>): Readonly<Record<string, string>> {
  switch (auth.kind) {
    case 'key':
    case 'managed':
      return {};
    case 'psk':
      return sentTags(tags);
    case 'token':
      return { CODER_ORGANIZATION: organization, ...sentTags(tags) };
  }
}

/** coder reads one record of CSV with a field for each tag, and takes an unset variable as none. */
function sentTags({ owner: _, ...tags }: Tags): Readonly<Record<string, string>> {
  const fields = Object.keys(tags)
    .sort()
    .map((name) => csvField(`${name}=${tags[name]}`));
  return fields.length === 0 ? {} : { CODER_PROVISIONERD_TAGS: fields.join(',') };
}

/** As Go's encoding/csv reads it: a field with a quote or a comma is quoted. Tags have no line breaks. */
function csvField(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
