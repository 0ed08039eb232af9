/** The kinds of values that are more than a text, a number or a mapping. */

type Facts = {
  /** In messages: `expected a duration`. */
  readonly noun: string;
  /** In the table of docs/settings.md. */
  readonly form: string;
  /** The end of the name of the field that holds the value. */
  readonly unit: string;
};

/** By the title of the setting in the JSON Schema. */
export const KINDS = {
  duration: { noun: 'a duration', form: 'duration: `90s`, `5m`, `1h`', unit: 'Ms' },
  share: { noun: 'a percentage', form: 'percentage: `1%` to `100%`', unit: 'Percent' },
  dollars: { noun: 'a number of dollars', form: 'dollars: `0.10`', unit: '' },
  'days of the week': { noun: 'days of the week', form: 'days: `mon-fri`, `mon,wed`', unit: '' },
  'time of day': { noun: 'a time of day', form: 'time of day: `08:30`', unit: 'Minute' },
  'secret reference': { noun: 'a mapping', form: '`{ secret, jsonKey? }`', unit: '' },
} as const satisfies Readonly<Record<string, Facts>>;

export type Kind = keyof typeof KINDS;
