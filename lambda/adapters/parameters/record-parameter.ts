/** Keeps the record of builds in one parameter of Systems Manager. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { GetParametersCommand, PutParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import * as z from 'zod';
import type { OrganizationId } from '../../decision/model/brands.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import type { StockChoice } from '../../decision/model/snapshot.ts';
import type { TagSet } from '../../decision/model/tags.ts';
import type { ReplayedBuild } from '../../decision/stock/replay.ts';
import { type RecordStore, type StockRecord, withNewestBuilds } from '../../look/stock/kept-record.ts';
import { mapping } from '../../shared/mapping.ts';
import { stockChoices } from '../snapshot-schema.ts';
import { ParameterError } from './parameters.ts';

/** A function in a network without a route to Systems Manager gets no answer at all. */
const MOST_MS = 2_000;

export class RecordParameter implements RecordStore {
  readonly #client: SSMClient;
  readonly #name: string;
  readonly #mostMs: number;

  /** `client`: one that tries again once at most. `mostMs`: the longest wait for an answer. */
  constructor(client: SSMClient, name: string, mostMs = MOST_MS) {
    this.#client = client;
    this.#name = name;
    this.#mostMs = mostMs;
  }

  /** As `RecordStore.read`. Throws ParameterError, NewerRecordError for the record of a newer version. */
  async read(): Promise<StockRecord | undefined> {
    const command = new GetParametersCommand({ Names: [this.#name] });
    const { Parameters: [found] = [] } = await this.#answered(
      'reading',
      this.#client.send(command, this.#within()),
    );
    if (found?.Value === undefined) return undefined;
    if (isNewerRecord(found.Value)) throw new NewerRecordError(this.#name);
    return decodeRecord(found.Value);
  }

  /** As `RecordStore.write`. Throws ParameterError. */
  async write(record: StockRecord): Promise<void> {
    const Value = encodeRecord(record);
    if (Value === undefined) return;
    const named = { Name: this.#name, Value, Type: 'String', Tier: 'Advanced', Overwrite: true } as const;
    await this.#answered('writing', this.#client.send(new PutParameterCommand(named), this.#within()));
  }

  async #answered<T>(act: 'reading' | 'writing', answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (cause) {
      throw new ParameterError(
        `${act} the record of builds: SSM parameter ${this.#name}: ${messageOf(cause)}; scaling goes on without it. Check that the function can reach Systems Manager and that its role may read and write this parameter (docs/operate.md, "The record of builds")`,
        { cause },
      );
    }
  }

  #within(): { readonly abortSignal: AbortSignal } {
    return { abortSignal: AbortSignal.timeout(this.#mostMs) };
  }
}

/** A newer version keeps more than this one would write back, so the record is left to it. */
export class NewerRecordError extends ParameterError {
  constructor(parameter: string) {
    super(
      `reading the record of builds: SSM parameter ${parameter}: a newer version of the autoscaler wrote it. This version neither uses nor replaces it, so each cold start learns again. Deploy the newer version, or delete the parameter (docs/operate.md, "The record of builds")`,
    );
  }
}

/** Of an advanced parameter (docs/internals/aws.md §4). */
export const MOST_CHARACTERS = 8192;
/** Of the JSON. A longer text does not come from here. */
const MOST_BYTES = 1_000_000;

/** Raise it if an older version could not use the record. Keep the packing and the field: they tell it so. */
const VERSION = 1;

const newerSchema = z.object({ version: z.int().gt(VERSION) });

/** Whether a newer version of the autoscaler wrote the text. Never throws. */
export function isNewerRecord(text: string): boolean {
  return newerSchema.safeParse(unpack(text)).success;
}

const textSchema = z.object({
  version: z.literal(VERSION),
  organizations: z.array(
    z.object({
      id: z.string() as unknown as z.ZodType<OrganizationId, OrganizationId>,
      upTo: z.int().nonnegative(),
      logs: z.array(
        z.object({
          tags: mapping(z.string(), z.string()).refine(
            (tags): tags is TagSet => tags.scope !== undefined && tags.owner !== undefined,
          ),
          /** By turns: seconds before the next newer build or `upTo`, and how many it took. */
          builds: z.array(z.int().nonnegative()),
        }),
      ),
    }),
  ),
  choices: stockChoices,
});

/**
 * If not all fits, the oldest builds are left out, except the newest of each tag set, which tell how long
 * its builds take. Then these go, then what explains the choices, then choices. Undefined: nothing fits.
 */
export function encodeRecord(record: StockRecord, mostCharacters = MOST_CHARACTERS): string | undefined {
  const organizations = withNewestBuilds(record, Math.max(...OF_EACH));
  let { choices } = record;
  let isBrief = false;
  while (pack({ organizations, choices }, NO_BUILDS).length > mostCharacters) {
    if (choices.length === 0) return undefined;
    choices = isBrief ? choices.slice(0, Math.floor(choices.length * 0.9)) : choices.map(brief);
    isBrief = true;
  }
  return withBuilds({ organizations, choices }, mostCharacters);
}

const NO_BUILDS = Number.POSITIVE_INFINITY;

/** So many builds of each tag set, or fewer if these do not fit. */
const OF_EACH = [10, 5, 0];

/** With as many of the newest builds as fit. */
function withBuilds(record: StockRecord, mostCharacters: number): string {
  const logs = record.organizations.flatMap((organization) => organization.logs);
  const times = logs.flatMap(({ builds }) => builds.map(({ at }) => at)).sort((a, b) => b - a);
  const isSmall = (ofEach: number): boolean => pack(record, NO_BUILDS, ofEach).length <= mostCharacters;
  const ofEach = OF_EACH.find(isSmall) ?? 0;
  const least = pack(record, NO_BUILDS, ofEach).length;
  for (let kept = times.length; ; ) {
    const after = times[kept] ?? Number.NEGATIVE_INFINITY;
    const text = pack(record, after, ofEach);
    if (text.length <= mostCharacters) return text;
    const share = (mostCharacters - least) / (text.length - least);
    kept = Math.floor(kept * Math.min(0.99, share));
  }
}

/** Without what is learned again with the first builds. */
function brief({ tasks, waiting, waitingNow: _, stays: __, startMs, ...choice }: StockChoice): StockChoice {
  return {
    ...{ ...choice, tasks: inDigits(tasks, 2), waiting: inDigits(waiting, 2), others: [] },
    startMs: startMs && inDigits(startMs, 2),
  };
}

/** With the builds after a time, and so many `ofEach` tag set in any case. */
function pack({ organizations: all, choices }: StockRecord, after: number, ofEach = 0): string {
  const organizations = all.flatMap(({ id, upTo, logs }) => {
    const kept = logs.flatMap(({ tags, builds }) => {
      const newer = builds.filter(({ at }, index) => at > after || index >= builds.length - ofEach);
      return newer.length === 0 ? [] : { tags, builds: differences(newer, upTo) };
    });
    return kept.length === 0 ? [] : { id, upTo: Math.floor(upTo), logs: kept };
  });
  const json = JSON.stringify({ version: VERSION, organizations, choices }, rounded);
  return deflateRawSync(json, { level: 9 }).toString('base64');
}

/** Dollars need three digits. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? inDigits(value, 3) : value;
}

function inDigits(value: number, digits: number): number {
  return Number(value.toPrecision(digits));
}

function differences(builds: readonly ReplayedBuild[], upTo: number): readonly number[] {
  let next = Math.ceil(upTo / 1000);
  return builds.toReversed().flatMap(({ at, tookMs }) => {
    const second = Math.min(next, Math.floor(at / 1000));
    const gap = next - second;
    next = second;
    return [gap, Math.max(1, Math.round(tookMs / 1000))];
  });
}

/** Undefined: the text is no record of this version. Never throws. */
export function decodeRecord(text: string): StockRecord | undefined {
  const { data } = textSchema.safeParse(unpack(text));
  if (data === undefined) return undefined;
  return {
    organizations: data.organizations.map(({ id, upTo, logs }) => ({
      id,
      upTo,
      logs: logs.map(({ tags, builds }) => ({ tags, builds: buildsOf(builds, upTo) })),
    })),
    choices: data.choices,
  };
}

function unpack(text: string): unknown {
  try {
    return JSON.parse(
      inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES }).toString(),
    );
  } catch {
    return undefined;
  }
}

function buildsOf(numbers: readonly number[], upTo: number): readonly ReplayedBuild[] {
  let second = Math.ceil(upTo / 1000);
  const builds: ReplayedBuild[] = [];
  for (let index = 0; index + 1 < numbers.length; index += 2) {
    second -= numbers[index] ?? 0;
    builds.push({ at: second * 1000, tookMs: (numbers[index + 1] ?? 1) * 1000 });
  }
  return builds.toReversed();
}
