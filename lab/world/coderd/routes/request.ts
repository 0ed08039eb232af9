/** As coderd's QueryParamParser: strictly, and with all errors at once (docs/internals/coder.md §1). */
import { ownValue } from '../../../../lambda/decision/model/collections.ts';
import { messageOf } from '../../../../lambda/decision/model/message-of.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import type { CoderdModel } from '../model.ts';
import type { Cost } from '../rules/database.ts';
import type { Organization } from '../tables/organizations.ts';
import type { TokenUser } from '../tables/tokens.ts';

type ValidationError = { readonly field: string; readonly detail: string };

const MAX_INT32 = 2_147_483_647;
/** The texts that Go's strconv.ParseBool accepts. */
const BOOLEANS: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true]),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false]),
]);
/** The units of Go's time.ParseDuration, in milliseconds. */
const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const DURATION = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/;

/** A parameter is invalid. The message is that of Go, as coderd's answer has it. */
class QueryParameterError extends Error {
  override readonly name = 'QueryParameterError';
}

export class QueryParameters {
  readonly #given: URLSearchParams;
  readonly #parsed = new Set<string>();
  readonly #errors: ValidationError[] = [];

  constructor(given: URLSearchParams) {
    this.#given = given;
  }

  positiveInt32(field: string, fallback: number): number {
    return this.#single(field, fallback, 'must be a valid 32-bit positive integer', (text) => {
      if (!/^[+-]?\d+$/.test(text))
        throw new QueryParameterError(`strconv.ParseInt: parsing "${text}": invalid syntax`);
      if (Math.abs(Number(text)) > MAX_INT32)
        throw new QueryParameterError(`strconv.ParseInt: parsing "${text}": value out of range`);
      if (Number(text) < 0) throw new QueryParameterError('value is negative');
      return Number(text);
    });
  }

  boolean(field: string): boolean | undefined {
    return this.#single<boolean | undefined>(field, undefined, 'must be a valid boolean', (text) => {
      const value = ownValue(BOOLEANS, text);
      if (value === undefined)
        throw new QueryParameterError(`strconv.ParseBool: parsing "${text}": invalid syntax`);
      return value;
    });
  }

  /** Parses a Go duration such as `24h` or `1m30s`, as milliseconds. */
  durationMs(field: string): number {
    return this.#single(field, 0, "must be a valid duration (e.g., '24h', '30m', '1h30m')", durationMs);
  }

  uuid(field: string): string | undefined {
    return this.#single<string | undefined>(field, undefined, 'must be a valid uuid', (text) => {
      if (!isUuid(text)) throw new QueryParameterError('');
      return text.toLowerCase();
    });
  }

  /** Parses a JSON object of strings; {} if it is absent or `null`. */
  tags(field: string): Tags {
    return this.#single<Tags>(field, {}, 'must be a valid JSON object', stringMap);
  }

  /** Comma-separated, and the parameter may be repeated. */
  strings(field: string): readonly string[] {
    return this.#list(field, (text) => text);
  }

  /** Comma-separated, and the parameter may be repeated. */
  uuids(field: string): readonly string[] {
    return this.#list(field, (text) => lowerCaseUuid(text.trim()));
  }

  invalid(): readonly ValidationError[] {
    return this.#errors;
  }

  /** All errors, including those of unknown parameters. */
  errors(): readonly ValidationError[] {
    const excess = new Set(this.#given.keys()).difference(this.#parsed);
    return [
      ...this.#errors,
      ...[...excess].map((field) => ({ field, detail: `"${field}" is not a valid query param` })),
    ];
  }

  #single<T>(field: string, fallback: T, must: string, parse: (text: string) => T): T {
    const values = this.#values(field);
    if (values.length <= 1)
      return values.length === 0 ? fallback : this.#try(field, fallback, must, () => parse(values[0] ?? ''));
    this.#errors.push({
      field,
      detail: `Query param "${field}" provided more than once, found ${values.length} times. Only provide 1 instance of this query param.`,
    });
    return fallback;
  }

  #list<T>(field: string, parse: (text: string) => T): readonly T[] {
    const terms = this.#values(field).flatMap((value) => value.split(','));
    return this.#try<readonly T[]>(field, [], 'has invalid values', () => terms.map(parse));
  }

  /** An empty first value counts as absent. */
  #values(field: string): readonly string[] {
    this.#parsed.add(field);
    const values = this.#given.getAll(field);
    return (values[0] ?? '') === '' ? [] : values;
  }

  #try<T>(field: string, fallback: T, must: string, parse: () => T): T {
    try {
      return parse();
    } catch (cause) {
      const seen = messageOf(cause);
      this.#errors.push({ field, detail: `Query param "${field}" ${must}${seen === '' ? '' : `: ${seen}`}` });
      return fallback;
    }
  }
}

function lowerCaseUuid(text: string): string {
  if (!isUuid(text)) throw new QueryParameterError(uuidFlaw(text));
  return text.toLowerCase();
}

const durations = new Map<string, number>();

function durationMs(text: string): number {
  const known = durations.get(text) ?? parseDuration(text);
  durations.set(text, known);
  return known;
}

function parseDuration(text: string): number {
  if (text === '0') return 0;
  if (!DURATION.test(text)) throw new QueryParameterError(`time: invalid duration "${text}"`);
  const parts = [...text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)];
  const total = parts.reduce(
    (sum, [, number, unit = '']) => sum + Number(number) * (ownValue(UNITS_MS, unit) ?? 0),
    0,
  );
  return text.startsWith('-') ? -total : total;
}

function stringMap(text: string): Tags {
  const value: unknown = JSON.parse(text);
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new QueryParameterError('json: cannot unmarshal into Go value of type map[string]string');
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => [name, stringOrNull(name, content)]),
  );
}

function stringOrNull(name: string, content: unknown): string {
  if (content === null) return '';
  if (typeof content === 'string') return content;
  throw new QueryParameterError(`json: cannot unmarshal the value of "${name}" into Go value of type string`);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

function uuidFlaw(text: string): string {
  return text.length === 36 ? 'invalid UUID format' : `invalid UUID length: ${text.length}`;
}

/** The key of a search query, such as `deprecated:true`. */
export function searchKeyOf(query: string): string {
  return query.split(':')[0] ?? '';
}

export type UserRequest = {
  readonly model: CoderdModel;
  readonly user: TokenUser;
  readonly parameters: QueryParameters;
  /** The ids and names in its path, without that of the organization. */
  readonly ids: readonly string[];
  readonly body: string;
};

export type OrganizationRequest = UserRequest & { readonly organization: Organization };

export type Answer = {
  readonly status: number;
  readonly body: unknown;
  /** What the database computes for it. @default nothing worth counting */
  readonly cost?: Cost;
};

export const NOT_FOUND: Answer = {
  status: 404,
  body: { message: 'Resource not found or you do not have access to this resource' },
};

export function badUuid(text: string): Answer {
  return { status: 400, body: { message: `Invalid UUID "${text}".`, detail: uuidFlaw(text) } };
}

export function invalid(validations: readonly ValidationError[], message: string): Answer {
  return { status: 400, body: { message, validations } };
}
