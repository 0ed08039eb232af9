/** The schema of the prices of waiting: `waiting` for all pools, and `waiting` of one pool. */
import * as z from 'zod';
import type { Waiting } from '../../decision/model/config.ts';
import type { Kind } from './kinds.ts';

/** An amount of US dollars. */
export function dollars(description: string, { least = 0, most }: { least?: number; most: number }) {
  return z
    .number()
    .min(least)
    .max(most)
    .meta({ title: 'dollars' satisfies Kind, description, examples: [0.1] });
}

/** Dollars a minute. Higher prices are mistakes: $1 a minute is a developer at $60 an hour. */
const HIGHEST_PRICE = 1000;
const A_MINUTE = { most: HIGHEST_PRICE };

const person = dollars(
  'Dollars for each minute that a person waits for a build or a template import. 0 means that waiting costs nothing.',
  A_MINUTE,
);

const DEFAULT_PERSON = 0.1;

export const waiting = z
  .strictObject({
    person: person.default(DEFAULT_PERSON),
    autostart: dollars('Dollars for each minute that the scheduled start of a workspace is late.', A_MINUTE)
      .meta({ follows: '`waiting.person`' })
      .optional(),
    prebuild: dollars('Dollars for each minute that a prebuilt workspace is not ready.', A_MINUTE)
      .meta({ follows: '`waiting.person` / 20' })
      .optional(),
  })
  .prefault({})
  .meta({
    description:
      'What waiting costs. By default `autostart` is the same as `person`, and `prebuild` a twentieth. Autostops, dormancy and deletions cost a hundredth.',
    examples: [{ person: 1 }],
  });

export const poolWaiting = z
  .strictObject({ person: person.meta({ follows: '`waiting.person`' }).optional() })
  .prefault({})
  .meta({
    description: 'What waiting costs in this pool. All prices of `waiting` change in proportion.',
    examples: [{ person: 1 }],
  });

/** The prices of a pool: those of the deployment, in proportion to the pool's `person`. */
export function waitingOf(top: z.output<typeof waiting>, ownPerson: number | undefined): Waiting {
  const person = ownPerson ?? top.person;
  const inProportion = (price: number) => (top.person === 0 ? price : (price / top.person) * person);
  return {
    person,
    autostart: top.autostart === undefined ? person : inProportion(top.autostart),
    prebuild: top.prebuild === undefined ? person / 20 : inProportion(top.prebuild),
    stop: person / 100,
  };
}
