import { stringify } from 'yaml';
import type { z } from 'zod';
import { ownValue } from '../decision/model/collections.ts';
import { insteadOf, meantBy } from './problems/known-mistakes.ts';
import { error, type Mistake } from './problems/problems.ts';
import { looksLikeSecret, type Path, shown, shownText, subject } from './problems/shown.ts';
import { KINDS } from './schema/kinds.ts';
import { nearestName } from './schema/names.ts';
import { kindOf, rootSetting, type SettingNode, settingAt, settingsBelow } from './schema/settings.ts';

type Issue = z.core.$ZodIssue;
/** The text of a value in the file, if it is known. */
export type WrittenAt = (path: Path) => string | undefined;
/** An issue with what is needed to explain it. */
type Case<I = Issue> = {
  readonly issue: I;
  readonly path: Path;
  readonly seen: unknown;
  readonly isPresent: boolean;
  readonly root: SettingNode;
  readonly writtenAt: WrittenAt;
};

/** Makes one finding for each wrong setting: the seen value, the allowed values and a suggestion. */
export function explainIssues(issues: readonly Issue[], value: unknown, writtenAt: WrittenAt): Mistake[] {
  // the schema's description takes a while to derive
  if (issues.length === 0) return [];
  const root = rootSetting();
  const findings = issues.flatMap((issue) => explain({ ...toCase(issue, value, root), writtenAt }));
  const reported = new Set<string>();
  return findings.filter(({ path }) => {
    const key = JSON.stringify(path);
    return !reported.has(key) && reported.add(key);
  });
}

function toCase(issue: Issue, value: unknown, root: SettingNode): Omit<Case, 'writtenAt'> {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  const parent = valueAt(value, path.slice(0, -1));
  const isPresent =
    typeof parent === 'object' && parent !== null && Object.hasOwn(parent, String(path.at(-1)));
  return { issue, path, seen: valueAt(value, path), isPresent, root };
}

function explain(it: Case): Mistake[] {
  const { issue, path, seen } = it;
  if (issue.code === 'unrecognized_keys') return explainUnknown({ ...it, issue });
  if (issue.code === 'invalid_key') {
    return [error(path, `${shownText(String(path.at(-1)))} ${issue.issues[0]?.message ?? 'is not allowed'}`)];
  }
  if (seen === undefined) return [error(path, absence(it))];
  switch (issue.code) {
    case 'invalid_union':
      return explainUnion({ ...it, issue });
    case 'invalid_type':
      return [error(path, wrongType(it))];
    case 'invalid_value':
      return [error(path, wrongValue({ ...it, issue }))];
    case 'too_small':
      return [
        error(
          path,
          issue.origin === 'array'
            ? `the list is empty; write at least one entry${example(settingAt(it.root, path))}`
            : tooSmall({ ...it, issue }),
        ),
      ];
    case 'too_big':
      return [error(path, `expected at most ${issue.maximum}, got ${shown(seen, path)}`)];
    default:
      return [error(path, `${subject(seen, path)} ${issue.message}`)];
  }
}

/** A mapping or list is meant to be the alternative that is one, so its own mistakes are explained. */
function explainUnion(it: Case<z.core.$ZodIssueInvalidUnion>): Mistake[] {
  const { issue, path, seen } = it;
  const own = typeof seen === 'object' ? issue.errors.find(([first]) => isAboutContent(first)) : undefined;
  if (own === undefined) return [error(path, wrongType(it))];
  const found = own.flatMap((inner) => {
    const below = inner.path.filter((step) => typeof step !== 'symbol');
    const value = valueAt(seen, below);
    return explain({
      ...it,
      issue: inner,
      path: [...path, ...below],
      seen: value,
      isPresent: value !== undefined,
    });
  });
  const meant = found.filter((finding) => meantBy(finding.path) !== undefined);
  return meant.length > 0 ? meant : found;
}

const isAboutContent = (issue: Issue | undefined): boolean =>
  issue !== undefined && (issue.path.length > 0 || issue.code === 'unrecognized_keys');

function explainUnknown({ issue, path, root }: Case<z.core.$ZodIssueUnrecognizedKeys>): Mistake[] {
  const setting = settingAt(root, path);
  const mapping = setting?.anyOf?.find(({ properties }) => properties !== undefined) ?? setting;
  const allowed = Object.keys(mapping?.properties ?? {});
  return issue.keys.map((key) => {
    const known = meantBy([...path, key]);
    if (known !== undefined) return error([...path, key], known);
    const near = nearestName(key, allowed);
    const guess = near === undefined ? '' : `did you mean "${near}"? `;
    const rest = [...elsewhere(root, key), `allowed: ${allowed.join(', ')}`].join('; ');
    return error([...path, key], `unknown setting; ${guess}${rest}`);
  });
}

/** Where a name that is unknown here is a setting. */
function elsewhere(root: SettingNode, key: string): string[] {
  const homes = settingsBelow(root)
    .map(({ path }) => path.split('.'))
    .filter((steps) => steps.at(-1)?.replace('[]', '') === key)
    .map((steps) => steps.slice(0, -1).join('.'));
  return homes.length > 0 ? [`"${key}" belongs in ${homes.join(' or ')}`] : [];
}

function absence({ path, isPresent, root }: Case): string {
  const setting = settingAt(root, path);
  if (setting?.description === undefined)
    return path.at(-2) === 'tags' ? 'no value; write one' : 'no value; write "" for an empty string';
  return `${isPresent ? 'no value' : 'missing'}; ${asClause(setting.description)}${example(setting)}`;
}

/** A description, which is a sentence of its own, as a part of another. */
function asClause(description: string): string {
  return description.replace(/\.$/, '').replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase());
}

function wrongType({ path, seen, root, writtenAt }: Case): string {
  const setting = settingAt(root, path);
  const text = shown(seen, path);
  const isNumber = typeof seen === 'number' && text === String(seen);
  const got = `expected ${nounFor(setting)}, got ${(isNumber && writtenAt(path)) || text}`;
  if (path.length === 0) return `${got}; start with "coder:" and "pools:"`;
  const instead = insteadOf(path, seen) ?? numberIn(seen, setting) ?? secretIn(seen, setting);
  if (instead !== undefined) return `${got}; ${instead}`;
  if (setting?.type !== 'string') return `${got}${example(setting)}`;
  const kind = kindOf(setting);
  if (kind === 'duration')
    return `${got}; write a whole number and a unit (s, m or h), such as 90s, 5m or 1h`;
  if (kind !== undefined) return `${got}${example(setting)}`;
  return typeof seen === 'object' ? got : `${got}; put it in quotes`;
}

function wrongValue({ issue, path, seen }: Case<z.core.$ZodIssueInvalidValue>): string {
  const instead = insteadOf(path, seen);
  if (instead !== undefined) return instead;
  const allowed = issue.values.map(String);
  const near = typeof seen === 'string' ? nearestName(seen, allowed) : undefined;
  const hint = near === seen ? '; remove the quotes' : near && `; did you mean "${near}"?`;
  return `expected ${anyOf(allowed)}, got ${shown(seen, path)}${hint ?? vcpuHint(seen, allowed)}`;
}

function tooSmall({ issue, path, seen }: Case<z.core.$ZodIssueTooSmall>): string {
  return `expected at least ${issue.minimum}, got ${shown(seen, path)}`;
}

function nounFor(setting: SettingNode | undefined): string {
  if (setting?.anyOf) return setting.anyOf.map(nounFor).join(' or ');
  const kind = kindOf(setting);
  if (kind !== undefined) return KINDS[kind].noun;
  if (setting?.const !== undefined) return String(setting.const);
  switch (setting?.type) {
    case 'object':
      return 'a mapping';
    case 'array':
      return 'a list';
    case 'integer':
      return 'a whole number';
    case 'boolean':
      return 'true or false';
    default:
      return 'a string';
  }
}

/** An example in YAML, on one line. */
function example(setting: SettingNode | undefined): string {
  const [first] = setting?.examples ?? [];
  if (first === undefined) return '';
  return `; for example: ${stringify(first, { collectionStyle: 'flow', lineWidth: 0 }).trim()}`;
}

function anyOf(names: readonly string[]): string {
  return names.length === 2 ? names.join(' or ') : `one of ${names.join(', ')}`;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? Reflect.get(at, step) : undefined,
    value,
  );
}

/** A hint for a cpu that was written in vCPUs, such as 0.5, 1 or 2. */
function vcpuHint(seen: unknown, allowed: readonly string[]): string {
  const units = typeof seen === 'number' ? seen * 1024 : Number.NaN;
  return allowed.includes(String(units)) ? `; ${seen} vCPU is ${units}` : '';
}

/** A text where the reference to a secret is expected: the secret itself, its name, or a typo. */
function secretIn(seen: unknown, setting: SettingNode | undefined): string | undefined {
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
function numberIn(seen: unknown, setting: SettingNode | undefined): string | undefined {
  if (typeof seen !== 'string') return undefined;
  if (ownValue(BARE, typeOf(setting))?.test(seen)) return 'remove the quotes';
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
