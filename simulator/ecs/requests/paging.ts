import { invalidParameter } from './errors.ts';

type PageRequest = { readonly maxResults?: number | undefined; readonly nextToken?: string | undefined };
type Page = { readonly items: readonly string[]; readonly nextToken?: string };

/**
 * One page of ARNs, sorted by ARN, so the order shows nothing of age. The token stands for the last
 * ARN of the page, so no entry is skipped or repeated when others come and go.
 */
export function pageOf(arns: readonly string[], request: PageRequest, size: { fallback: number }): Page {
  const { maxResults = size.fallback, nextToken } = request;
  if (!Number.isInteger(maxResults) || maxResults < 1 || maxResults > 100)
    throw invalidParameter('maxResults must be between 1 and 100.');
  const after = nextToken === undefined ? '' : readToken(nextToken);
  const rest = arns.filter((arn) => arn > after).sort();
  const items = rest.slice(0, maxResults);
  const last = items.at(-1);
  return last === undefined || rest.length <= maxResults ? { items } : { items, nextToken: writeToken(last) };
}

const PREFIX = 'after ';
const writeToken = (arn: string): string => Buffer.from(PREFIX + arn).toString('base64url');

function readToken(token: string): string {
  const text = Buffer.from(token, 'base64url').toString();
  if (!text.startsWith(PREFIX)) throw invalidParameter('Invalid token');
  return text.slice(PREFIX.length);
}
