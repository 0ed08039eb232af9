/** Writes a draft as the text of autoscaler.yaml. */
import { Document, isCollection, isMap, isNode, isSeq } from 'yaml';
import { tagText } from '../../lambda/explain/format.ts';
import type { Draft, DraftPool } from './draft.ts';
import { type CoderSettings, KEY_TOKEN_SECRET } from './inputs.ts';

type Drafted = {
  readonly draft: Draft;
  readonly coder: CoderSettings;
  /** The image of coderd's own release; undefined if its version is no release. */
  readonly image: string | undefined;
  /** The path of the JSON Schema, if it lies beside the file. */
  readonly schema?: string | undefined;
  readonly stack?: string | undefined;
};

export function settingsText({ draft, coder, image, schema, stack }: Drafted): string {
  const { pools } = draft;
  const isManaged = pools.some(({ key }) => key === undefined);
  const document = new Document({
    coder,
    ...(isManaged ? { managedKeys: { token: { secret: KEY_TOKEN_SECRET } } } : {}),
    ...(image === undefined ? {} : { defaults: { image } }),
    pools: pools.map(settingsOf),
    ...(stack === undefined ? {} : { aws: { stack } }),
  });
  document.commentBefore = [
    ...(schema === undefined ? [] : [` yaml-language-server: $schema=${schema}`]),
    ' Written by "autoscaler setup --draft". docs/settings.md has every setting and its default.',
    ' Check it with: npx autoscaler validate',
    ...leftOutText(draft),
  ].join('\n');
  for (const [index, pool] of pools.entries()) annotate(document, ['pools', index], templatesText(pool));
  for (const index of pools.keys()) makeFlow(document, ['pools', index, 'tags']);
  for (const index of pools.keys()) makeFlow(document, ['pools', index, 'key']);
  makeFlow(document, ['coder', 'token']);
  makeFlow(document, ['managedKeys', 'token']);
  spaceSections(document);
  document.comment =
    stack === undefined ? `${AWS_TEXT}\n aws:\n${AWS_SETTINGS}` : `${AWS_TEXT}\n${AWS_SETTINGS}`;
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

function leftOutText({ leftOut }: Draft): readonly string[] {
  if (leftOut.length === 0) return [];
  const lines = leftOut.map(({ organization, tags }) => `   ${organization}: ${tagText(tags)}`);
  return ['', ' Too many tag sets for one deployment. These have no pool:', ...lines];
}

function settingsOf({ name, organization, tags, key }: DraftPool): object {
  const isTagged = Object.keys(tags).length > 0;
  return {
    name,
    organization,
    ...(isTagged ? { tags } : {}),
    key: key === undefined ? 'managed' : { secret: key },
    max: 20,
  };
}

function templatesText({ templates }: DraftPool): string {
  if (templates.length === 0) return ' no template yet; runs jobs without tags';
  const [shown, more] = [templates.slice(0, 5), templates.length - 5];
  return ` templates: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The stack makes everything that this section does not name. */
const AWS_TEXT = ` By default "cdk deploy" creates a VPC with a NAT gateway, a cluster and a topic for alarms. To use your
 own, and to get mail, uncomment and edit:`;
const AWS_SETTINGS = `   network: { vpc: vpc-0123456789abcdef0, subnets: [subnet-0123456789abcdef0, subnet-0fedcba9876543210] }
   cluster: platform
   alarms: { emails: [platform@example.com] }`;

type At = readonly (string | number)[];

function annotate(document: Document, at: At, comment: string): void {
  const node = document.getIn(at, true);
  if (isNode(node)) node.commentBefore = comment;
}

/** An empty line before each section and each pool. */
function spaceSections(document: Document): void {
  const sections = isMap(document.contents) ? document.contents.items : [];
  for (const { key } of sections.slice(1)) if (isNode(key)) key.spaceBefore = true;
  const pools = document.get('pools', true);
  for (const pool of isSeq(pools) ? pools.items.slice(1) : []) if (isNode(pool)) pool.spaceBefore = true;
}

/** `{ gpu: a10 }` on one line. */
function makeFlow(document: Document, at: At): void {
  const node = document.getIn(at, true);
  if (isCollection(node)) node.flow = true;
}
