/** Compares two transcripts of the story. */
import type { Entry } from '../../../../cli/doctor/answers/recordings.ts';
import { ownValue } from '../../../../lambda/decision/model/collections.ts';

export type Difference = {
  readonly step: string;
  /** The path in the answer, such as `workspaces[2].latest_build.status`. */
  readonly path: string;
  readonly real: unknown;
  readonly simulated: unknown;
};

/** The differences of each step. A step that only one transcript has is one difference. */
export function compareEntries(real: readonly Entry[], simulated: readonly Entry[]): readonly Difference[] {
  const bySteps = new Map(simulated.map((entry) => [entry.step, entry]));
  const inReal = new Set(real.map(({ step }) => step));
  return [
    ...real.flatMap((entry) => {
      const other = bySteps.get(entry.step);
      const found = [...differencesIn(withoutStep(entry), other && withoutStep(other))];
      return found.map((difference) => ({ step: entry.step, ...difference }));
    }),
    ...simulated
      .filter(({ step }) => !inReal.has(step))
      .map((entry) => ({ step: entry.step, path: '', real: undefined, simulated: withoutStep(entry) })),
  ];
}

function withoutStep({ step, ...rest }: Entry): object {
  return rest;
}

function* differencesIn(real: unknown, simulated: unknown, path = ''): Iterable<Omit<Difference, 'step'>> {
  const [ids, others] = [identities(real), identities(simulated)];
  if (ids !== undefined && others !== undefined) {
    const listed = [...ids.keys()].filter((id) => others.has(id));
    const order = [...others.keys()].filter((id) => ids.has(id));
    yield* differencesIn(listed.join(' '), order.join(' '), `${path}.order`);
    for (const id of new Set([...ids.keys(), ...others.keys()]))
      yield* differencesIn(ids.get(id), others.get(id), `${path}[${id}]`);
  } else if (Array.isArray(real) && Array.isArray(simulated)) {
    for (let index = 0; index < Math.max(real.length, simulated.length); index++)
      yield* differencesIn(real[index], simulated[index], `${path}[${index}]`);
  } else if (isObject(real) && isObject(simulated)) {
    for (const key of new Set([...Object.keys(real), ...Object.keys(simulated)]))
      yield* differencesIn(
        ownValue(real, key),
        ownValue(simulated, key),
        path === '' ? key : `${path}.${key}`,
      );
  } else if (real !== simulated) yield { path, real, simulated };
}

/** The items by id, so that a row is compared with itself anywhere; undefined without unique ids. */
function identities(list: unknown): ReadonlyMap<string, unknown> | undefined {
  if (!Array.isArray(list)) return undefined;
  const ids = list.map((item) => (isObject(item) ? (item.id ?? item.user_id) : undefined));
  if (!ids.every((id) => typeof id === 'string') || new Set(ids).size < ids.length) return undefined;
  return new Map(ids.map((id, index) => [id, list[index]]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
