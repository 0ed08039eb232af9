/** What to write instead of a wrong value, if the value itself tells. */
import { looksLikeSecret } from './problems/shown.ts';
import { nearestName } from './schema/names.ts';
import { kindOf, type SettingNode } from './schema/settings.ts';

/** A hint for a cpu that was written in vCPUs, such as 0.5, 1 or 2. */
export function vcpuHint(seen: unknown, allowed: readonly string[]): string {
  const units = typeof seen === 'number' ? seen * 1024 : Number.NaN;
  return allowed.includes(String(units)) ? `; ${seen} vCPU is ${units}` : '';
}

/** A text where the reference to a secret is expected: the secret itself, its name, or a typo. */
export function secretIn(seen: unknown, setting: SettingNode | undefined): string | undefined {
  if (typeof seen !== 'string' || kindOf(setting) !== 'secret reference') return undefined;
  if (looksLikeSecret(seen))
    return 'it looks like the secret itself; store it in AWS Secrets Manager and write { secret: <its name or ARN> }';
  const words = (setting?.anyOf ?? []).flatMap((each) =>
    typeof each.const === 'string' ? [each.const] : [],
  );
  const near = nearestName(seen, words);
  return near === undefined ? undefined : `did you mean "${near}"?`;
}

/** A number or a boolean in quotes, where one is expected, or a number with its currency. */
export function numberIn(seen: unknown, setting: SettingNode | undefined): string | undefined {
  if (typeof seen !== 'string') return undefined;
  if (BARE[typeOf(setting)]?.test(seen)) return 'remove the quotes';
  const amount = kindOf(setting) === 'dollars' ? AMOUNT.exec(seen)?.groups?.amount : undefined;
  return amount === undefined ? undefined : `write the number alone: ${amount}`;
}

const BARE: Readonly<Record<string, RegExp>> = {
  boolean: /^(?:true|false)$/,
  integer: /^-?\d+$/,
  number: /^-?\d+(?:\.\d+)?$/,
};
const AMOUNT = /^(?:\$|usd)? ?(?<amount>\d+(?:\.\d+)?) ?(?:\$|usd|dollars?)?$/i;

/** Of what may be a word or a number: the number. */
function typeOf(setting: SettingNode | undefined): string {
  return setting?.type ?? setting?.anyOf?.map(({ type }) => type).find((type) => type !== 'string') ?? '';
}
