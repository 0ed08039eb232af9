/** Changes that no test can notice, since nothing that matters differs. Each says why. */

type Equivalent = { readonly file: string; readonly change: string; readonly because: string };

/** The jitter has the same spread with each of them. */
const GENERATORS = [
  'seed=$(((seed * 1103515245 - 12345) % 2147483648))',
  'seed=$(((seed * 1103515245 + 12345) % 1073741824))',
  'seed=$(((seed * 1103515245 + 12345) % 4294967296))',
  'jittered=$(($1 * 2 / 3 + seed / 9 % ($1 * 2 / 3 + 1)))',
  'jittered=$(($1 * 2 / 3 + seed * 8 % ($1 * 2 / 3 + 1)))',
];

const EQUIVALENTS: readonly Equivalent[] = [
  ...GENERATORS.map((change) => {
    const because = 'the numbers of a generator of chance are arbitrary';
    return { file: 'guard/guard.sh', change, because };
  }),
  {
    file: 'guard/guard.sh',
    change: '[1-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*Z) ;;',
    because: 'no year begins with 0',
  },
  {
    file: 'guard/guard.sh',
    change: `trap 'false || kill "$nap" 2>/dev/null; exit' TERM`,
    because: 'without a nap this kill fails in silence',
  },
  {
    file: 'guard/guard.sh',
    change: `while kill "$keeper" 2>/dev/null; do sleep_ms 50; done # a renewal of its own must not come after the release`,
    because: 'it waits for the end of the keeper, however often it asks',
  },
  {
    file: 'guard/guard.sh',
    change: `while kill "$keeper" 2>/dev/null; do sleep_ms 200; done # a renewal of its own must not come after the release`,
    because: 'it waits for the end of the keeper, however often it asks',
  },
];

/** Why nobody can notice a change; undefined if somebody could. `change`: as an outcome has it, with its kind before it. */
export function whyEquivalent({
  place,
  change,
}: {
  readonly place: string;
  readonly change: string;
}): string | undefined {
  return EQUIVALENTS.find((each) => place.startsWith(`${each.file}:`) && change.endsWith(`: ${each.change}`))
    ?.because;
}
