/**
 * Schemas of ids and ARNs of existing resources. They check only the form, because a configuration
 * is checked offline.
 */
import * as z from 'zod';

/** The id of a VPC, subnet or security group: 17 hexadecimal digits, or 8 in old ids. */
export function resourceId(prefix: 'vpc' | 'subnet' | 'sg', what: string) {
  const example = `${prefix}-0123456789abcdef0`;
  return z
    .string()
    .regex(
      new RegExp(`^${prefix}-(?:[0-9a-f]{17}|[0-9a-f]{8})$`),
      `is not the id of ${what}; write one such as ${example}`,
    )
    .meta({ description: `The id of ${what}.`, examples: [example] });
}

const ACCOUNT = String.raw`\d{12}`;
const IN_REGION = `[a-z]{2}[a-z0-9-]*:${ACCOUNT}`;

type ArnKind = { readonly what: string; readonly form: string; readonly example: string };

const KINDS = {
  key: {
    what: 'a KMS key (not of an alias)',
    form: `kms:${IN_REGION}:key/(?:mrk-[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`,
    example: 'arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef',
  },
  policy: {
    what: 'a managed policy',
    form: `iam::(?:${ACCOUNT}|aws):policy/[\\w+=,.@/-]+`,
    example: 'arn:aws:iam::123456789012:policy/boundary',
  },
  role: {
    what: 'a role',
    form: `iam::${ACCOUNT}:role/[\\w+=,.@/-]+`,
    example: 'arn:aws:iam::123456789012:role/terraform',
  },
  // alarms cannot publish to FIFO topics, whose names end with ".fifo"
  topic: {
    what: 'a standard SNS topic',
    form: `sns:${IN_REGION}:[A-Za-z0-9_-]{1,256}`,
    example: 'arn:aws:sns:eu-central-1:123456789012:on-call',
  },
} as const satisfies Readonly<Record<string, ArnKind>>;

/** The ARN of one kind of resource; the description is the caller's. */
export function arnOf(kind: keyof typeof KINDS, description: string) {
  const { what, form, example } = KINDS[kind];
  return z
    .string()
    .regex(new RegExp(`^arn:aws[a-z-]*:${form}$`), `is not the ARN of ${what}; write one such as ${example}`)
    .meta({ description, examples: [example], isPrivate: true });
}
