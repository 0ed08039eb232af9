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
const others = {
  autostart: dollars('Dollars for each minute that the scheduled start of a workspace is late.', A_MINUTE),
  prebuild: dollars('Dollars for each minute that a prebuilt workspace is not ready.', A_MINUTE),
  stop: dollars('Dollars for each minute that an autostop, a dormancy or a deletion is late.', A_MINUTE),
};

const DEFAULT_PERSON = 0.1;

export const waiting = z
  .strictObject({
    person: person.default(DEFAULT_PERSON),
    autostart: others.autostart.meta({ follows: '`waiting.person`' }).optional(),
    prebuild: others.prebuild.meta({ follows: '`waiting.person` / 20' }).optional(),
    stop: others.stop.meta({ follows: '`waiting.person` / 100' }).optional(),
  })
  .prefault({})
  .meta({
    description:
      'What waiting costs. The other prices follow `person` by default: `autostart` is the same, `prebuild` a twentieth, `stop` a hundredth.',
    examples: [{ person: 1 }],
  });

export const poolWaiting = z
  .strictObject({
    person: person.meta({ follows: '`waiting.person`' }).optional(),
    autostart: others.autostart.meta({ follows: "`waiting.autostart`, or the pool's `person`" }).optional(),
    prebuild: others.prebuild.meta({ follows: "`waiting.prebuild`, or the pool's `person` / 20" }).optional(),
    stop: others.stop.meta({ follows: "`waiting.stop`, or the pool's `person` / 100" }).optional(),
  })
  .prefault({})
  .meta({
    description:
      "What waiting costs in this pool. A price set here comes first, then one set in the top-level `waiting`. The others follow the pool's `person`.",
    examples: [{ person: 1 }],
  });

type Prices = { readonly [Name in keyof Waiting]?: number | undefined };

/** The complete prices of one pool. Its own prices come first, then those of the top level. */
export function waitingOf(top: Prices, pool: Prices): Waiting {
  const price = (name: keyof Waiting) => pool[name] ?? top[name];
  const ofPerson = price('person') ?? DEFAULT_PERSON;
  return {
    person: ofPerson,
    autostart: price('autostart') ?? ofPerson,
    prebuild: price('prebuild') ?? ofPerson / 20,
    stop: price('stop') ?? ofPerson / 100,
  };
}
